import { callOverload } from "./call.ts";
import { type Call, type Expression, literal } from "./expression.ts";
import { overload, repeated } from "./functions/definition.ts";
import { TABLES } from "./schema.ts";

/** Conditions on the entries of one organisation. */
export interface OrganizationCase {
  readonly organizationId: number;
  readonly condition: Expression;
}

/** A key of each case that holds, one after the other: a row is in the group of each of them, and in none where none does. */
const CASE_OF = overload([repeated("of", "any")], "long", "never", (call) => {
  const numbers = Array.from({ length: call.operands.length / 2 }, (_, i) => {
    const isOfOrganization = `${TABLES.logs.organizationColumn} = ${call.operand(2 * i)}`;
    return `if(${isOfOrganization} AND ${call.conditionOperand(2 * i + 1)}, ${i}, -1)`;
  });
  return `toInt64(arrayJoin(arrayFilter(n -> n >= 0, [${numbers.join(", ")}])))`;
});

/** The numbers of the cases that an entry is of, for the keys of a plan that is guarded for each organisation. No query can name it. */
export function caseOf(cases: readonly [OrganizationCase, ...OrganizationCase[]]): Call {
  return callOverload(
    "caseOf",
    CASE_OF,
    cases.flatMap(({ organizationId, condition }) => [literal("long", BigInt(organizationId)), condition]),
  );
}

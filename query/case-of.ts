import { callOverload } from "./call.ts";
import { type Call, type Expression, literal } from "./expression.ts";
import { type Overload, overload, repeated } from "./functions/definition.ts";
import { TABLES } from "./schema.ts";

/** Conditions on the entries of one organisation. */
export interface OrganizationCase {
  readonly organizationId: number;
  readonly condition: Expression;
}

/**
 * A key of each case that holds, one after the other: a row is in the group of each of them, and in none where none does. Whose a row is
 * is asked once for all cases of an organisation, what several of them ask is written once, and nothing is written of a case but its
 * condition: for fifty of them the store takes longer to read the statement than the entries.
 */
function caseOverload(
  cases: readonly { readonly organizationId: number; readonly conjuncts: number }[],
): Overload {
  return overload([repeated("of", "any")], "long", "never", (call) => {
    let read = 0;
    const written = cases.map(({ organizationId, conjuncts }, number) => ({
      ...{ number, organizationId },
      organization: call.operand(read++),
      conditions: Array.from({ length: conjuncts }, () => call.conditionOperand(read++)),
    }));
    const times = new Map<string, number>();
    for (const sql of written.flatMap(({ conditions }) => [...new Set(conditions)]))
      times.set(sql, (times.get(sql) ?? 0) + 1);
    const once = (sql: string): string => ((times.get(sql) ?? 0) > 1 ? call.share(sql) : sql);
    const ofEach = [...Map.groupBy(written, ({ organizationId }) => organizationId).values()].map((own) => {
      const numbers = own.map(({ number }) => number).join(", ");
      const conditions = own.map((each) => `(${each.conditions.map(once).join(" AND ")})`).join(", ");
      const held = `arrayFilter((n, holds) -> ifNull(holds, false), [${numbers}], [${conditions}])`;
      const isOfIt = `${TABLES.logs.organizationColumn} = ${own[0]?.organization}`;
      return `if(${cases.length > 1 ? call.step(isOfIt) : isOfIt}, ${held}, [])`;
    });
    const [only = "[]", ...others] = ofEach;
    return `toInt64(arrayJoin(${others.length === 0 ? only : `arrayConcat(${ofEach.join(", ")})`}))`;
  });
}

/** The numbers of the cases that an entry is of, for the keys of a plan that is guarded for each organisation. No query can name it. */
export function caseOf(cases: readonly [OrganizationCase, ...OrganizationCase[]]): Call {
  const parts = cases.map(({ organizationId, condition }) => ({
    organizationId,
    of: conjunctsOf(condition),
  }));
  return callOverload(
    "caseOf",
    caseOverload(parts.map(({ organizationId, of }) => ({ organizationId, conjuncts: of.length }))),
    parts.flatMap(({ organizationId, of }) => [literal("long", BigInt(organizationId)), ...of]),
  );
}

/** The conditions that all have to hold. */
function conjunctsOf(condition: Expression): readonly Expression[] {
  return condition.kind === "call" && condition.name === "and"
    ? condition.operands.flatMap(conjunctsOf)
    : [condition];
}

import type { Expression } from "../expression.ts";
import { areComparable, isNumeric, SCALAR_TYPES, type ScalarType } from "../scalar-type.ts";
import { INTEGERS } from "./arithmetic.ts";
import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  type Overload,
  overload,
  parameter,
  repeated,
  type SqlTemplate,
  simple,
  sql,
} from "./definition.ts";
import { exactNumber, exactResult } from "./exact-numbers.ts";

const COMPARABLE: readonly ScalarType[] = SCALAR_TYPES.filter((type) => type !== "dynamic");

/** Every pair of types that can be compared; converting one side beforehand could lose digits. */
function comparisons(
  nulls: Overload["nulls"],
  template: SqlTemplate,
  condition: NonNullable<Overload["condition"]> = () => undefined,
): Overload[] {
  return COMPARABLE.flatMap((left) =>
    COMPARABLE.filter((right) => areComparable(left, right)).map((right) => ({
      ...overload([parameter("left", left), parameter("right", right)], "bool", nulls, template),
      condition,
    })),
  );
}

/** Dynamic values and whole numbers, of which those beyond 2^53 are no reals. */
function exactOverloads(nulls: Overload["nulls"], template: SqlTemplate): Overload[] {
  return [
    overload([parameter("left", "dynamic"), parameter("right", INTEGERS)], "bool", nulls, template),
    overload([parameter("left", INTEGERS), parameter("right", "dynamic")], "bool", nulls, template),
  ];
}

/** The store compares integers with reals by their values: nothing is lost where one side is whole. */
function exactComparison(call: CallWriter, operator: string): string {
  const compare = (left: string, right: string) => `${left} ${operator} ${right}`;
  return exactResult(call, compare, compare);
}

function connective(summary: string, operator: string): FunctionDefinition {
  const join = (call: CallWriter, write: (index: number) => string) =>
    `(${call.operands.map((_, i) => write(i)).join(operator)})`;
  const connected = overload(
    [parameter("first", "bool"), repeated("other", "bool")],
    "bool",
    "propagate",
    (call) => join(call, (i) => call.operand(i)),
  );
  return { summary, overloads: [{ ...connected, condition: (call) => join(call, call.conditionOperand) }] };
}

/** The number that an operand is known to be. */
function constantNumber(operand: Expression | undefined): number | undefined {
  if (operand?.kind !== "literal" || !isNumeric(operand.type) || operand.value === null) return undefined;
  return Number(operand.value);
}

/** An order: true and false, as the numbers 1 and 0, need not be known from null where it holds for neither. */
function order(
  summary: string,
  operator: "<" | "<=" | ">" | ">=",
  holds: (left: number, right: number) => boolean,
): FunctionDefinition {
  const condition = (call: CallWriter): string | undefined => {
    const [left, right] = call.operands.map(constantNumber);
    if (right !== undefined && !holds(0, right) && !holds(1, right)) {
      const number = call.numberOperand(0);
      return number && `(${number} ${operator} ${call.operand(1)})`;
    }
    if (left !== undefined && !holds(left, 0) && !holds(left, 1)) {
      const number = call.numberOperand(1);
      return number && `(${call.operand(0)} ${operator} ${number})`;
    }
    return undefined;
  };
  const template: SqlTemplate = (call) => `(${call.operand(0)} ${operator} ${call.operand(1)})`;
  const exact: SqlTemplate = (call) => exactComparison(call, operator);
  const ofTwo = overload(
    [parameter("left", "dynamic"), parameter("right", "dynamic")],
    "bool",
    "possible",
    exact,
  );
  return {
    summary,
    overloads: [
      ...comparisons("propagate", template, condition),
      ...exactOverloads("possible", exact),
      ofTwo,
    ],
  };
}

/** An operand that is looked for among numbers: where truth values, 1 and 0, are none of them, they may be null. */
function soughtNumber(call: CallWriter, index: number, others: readonly Expression[]): string | undefined {
  const isAmongOthers = others.every((other) => {
    const number = constantNumber(other);
    return number !== undefined && number !== 0 && number !== 1;
  });
  return isAmongOthers ? call.numberOperand(index) : undefined;
}

/** True or false when one side is null, null when both are. */
function exactEquality(operator: "=" | "!="): SqlTemplate {
  return (call) => {
    const [left, right] = [exactNumber(call, 0), exactNumber(call, 1)];
    const whenOneIsNull = operator === "=" ? "false" : "true";
    const compared = `ifNull(${exactComparison(call, operator)}, ${whenOneIsNull})`;
    return `if(isNull(${left.real}) AND isNull(${right.real}), NULL, ${compared})`;
  };
}

/** True or false when one side is null, null when both are. */
function equality(operator: "=" | "!="): SqlTemplate {
  const whenOneIsNull = operator === "=" ? "false" : "true";
  return (call) => {
    const nullable = [0, 1].filter((i) => call.operands[i]?.isNullable);
    if (nullable.length < 2) {
      const enumeration = comparedEnum(call);
      if (enumeration !== undefined) return operator === "=" ? enumeration : `not${enumeration}`;
      const [left, right] = [0, 1].map(
        (i) => soughtNumber(call, i, call.operands.slice(1 - i, 2 - i)) ?? call.operand(i),
      );
      const comparison = `${left} ${operator} ${right}`;
      return nullable.length === 0 ? `(${comparison})` : `ifNull(${comparison}, ${whenOneIsNull})`;
    }
    const [left, right] = [call.sharedOperand(0), call.sharedOperand(1)];
    return `if(isNull(${left}) AND isNull(${right}), NULL, ifNull(${left} ${operator} ${right}, ${whenOneIsNull}))`;
  };
}

function equalities(operator: "=" | "!="): Overload[] {
  return [
    ...comparisons("possible", equality(operator)),
    ...exactOverloads("possible", exactEquality(operator)),
  ];
}

/**
 * An enumeration that is the same as a literal stays what it is, and no text is made of it. That it is another is the
 * negation: the store refuses `!=` with a text that is no member of it.
 */
function comparedEnum(call: CallWriter): string | undefined {
  for (const index of [0, 1]) {
    const enumeration = call.enumOperand(index);
    if (enumeration !== undefined && call.operands[1 - index]?.kind === "literal")
      return `(${enumeration} = ${call.operand(1 - index)})`;
  }
  return undefined;
}

/** Types of one kind: numbers go with numbers, anything else with its like. */
function isMember(operands: readonly Expression[]): boolean {
  const [value, ...list] = operands;
  return value !== undefined && list.every((item) => areComparable(value.type, item.type));
}

/** Literals travel as one array, so that a list of thousands is one parameter and a set in ClickHouse. */
function membership(call: CallWriter): string {
  const [, ...list] = call.operands;
  if (!isMember(call.operands)) throw new TypeError("the values of a list are of other types");
  if (list.length === 0) return "false";
  const strings = list.flatMap((item) =>
    item.kind === "literal" && (item.type === "string" || item.type === "guid") && item.value !== null
      ? [item.value]
      : [],
  );
  const values =
    strings.length === list.length
      ? call.stringArray(strings)
      : `(${list.map((_, i) => call.operand(i + 1)).join(", ")})`;
  return `ifNull(${soughtNumber(call, 0, list) ?? call.storedOperand(0)} IN ${values}, false)`;
}

/** Logic and comparison: operators, under names that a query cannot write as a function. */
export const COMPARISON_OPERATORS = {
  and: connective("True if all are.", " AND "),
  or: connective("True if one is.", " OR "),
  negation: simple("True if it is not.", [parameter("value", "bool")], "bool", "propagate", sql`not(${0})`),
  equal: { summary: "The same value.", overloads: equalities("=") },
  notEqual: { summary: "Another value.", overloads: equalities("!=") },
  less: order("Smaller.", "<", (left, right) => left < right),
  lessOrEqual: order("Not larger.", "<=", (left, right) => left <= right),
  greater: order("Larger.", ">", (left, right) => left > right),
  greaterOrEqual: order("Not smaller.", ">=", (left, right) => left >= right),
  in: {
    summary: "One of the values.",
    overloads: COMPARABLE.map((type) =>
      overload(
        [
          parameter("value", type),
          repeated(
            "item",
            COMPARABLE.filter((other) => areComparable(type, other)),
          ),
        ],
        "bool",
        "never",
        membership,
      ),
    ),
  },
} as const satisfies FunctionTable;

import type { Expression } from "../expression.ts";
import { areComparable, type ScalarType } from "../scalar-type.ts";
import {
  type CallWriter,
  type FunctionTable,
  type Overload,
  overload,
  parameter,
  repeated,
  type SqlTemplate,
  simple,
  sql,
} from "./definition.ts";

const COMPARABLE: readonly ScalarType[] = [
  "bool",
  "int",
  "long",
  "real",
  "decimal",
  "string",
  "datetime",
  "timespan",
  "guid",
];

/** Every pair of types that can be compared; converting one side beforehand could lose digits. */
function comparisons(nulls: Overload["nulls"], template: SqlTemplate): Overload[] {
  return COMPARABLE.flatMap((left) =>
    COMPARABLE.filter((right) => areComparable(left, right)).map((right) =>
      overload([parameter("left", left), parameter("right", right)], "bool", nulls, template),
    ),
  );
}

function connective(operator: string): SqlTemplate {
  return (call) => `(${call.operands.map((_, i) => call.operand(i)).join(operator)})`;
}

/** True or false when one side is null, null when both are. */
function equality(operator: "=" | "!="): SqlTemplate {
  const whenOneIsNull = operator === "=" ? "false" : "true";
  return (call) => {
    const nullable = [0, 1].filter((i) => call.operands[i]?.isNullable);
    if (nullable.length < 2) {
      const comparison = `${comparand(call, operator, 0)} ${operator} ${comparand(call, operator, 1)}`;
      return nullable.length === 0 ? `(${comparison})` : `ifNull(${comparison}, ${whenOneIsNull})`;
    }
    const [left, right] = [call.sharedOperand(0), call.sharedOperand(1)];
    return `if(isNull(${left}) AND isNull(${right}), NULL, ifNull(${left} ${operator} ${right}, ${whenOneIsNull}))`;
  };
}

/**
 * An enumeration that is compared with a literal stays what it is, and no text is made of it; not so where the
 * literal is to be another one, since the store refuses that for a text that is no member of it.
 */
function comparand(call: CallWriter, operator: "=" | "!=", index: 0 | 1): string {
  if (operator === "!=") return call.operand(index);
  const other = call.operands[1 - index];
  return other?.kind === "literal" ? call.storedOperand(index) : call.operand(index);
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
  return `ifNull(${call.storedOperand(0)} IN ${values}, false)`;
}

/** Logic and comparison: operators, under names that a query cannot write as a function. */
export const COMPARISON_OPERATORS = {
  and: simple(
    "True if all are.",
    [parameter("first", "bool"), repeated("other", "bool")],
    "bool",
    "propagate",
    connective(" AND "),
  ),
  or: simple(
    "True if one is.",
    [parameter("first", "bool"), repeated("other", "bool")],
    "bool",
    "propagate",
    connective(" OR "),
  ),
  negation: simple("True if it is not.", [parameter("value", "bool")], "bool", "propagate", sql`not(${0})`),
  equal: { summary: "The same value.", overloads: comparisons("possible", equality("=")) },
  notEqual: { summary: "Another value.", overloads: comparisons("possible", equality("!=")) },
  less: { summary: "Smaller.", overloads: comparisons("propagate", sql`(${0} < ${1})`) },
  lessOrEqual: { summary: "Not larger.", overloads: comparisons("propagate", sql`(${0} <= ${1})`) },
  greater: { summary: "Larger.", overloads: comparisons("propagate", sql`(${0} > ${1})`) },
  greaterOrEqual: { summary: "Not smaller.", overloads: comparisons("propagate", sql`(${0} >= ${1})`) },
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

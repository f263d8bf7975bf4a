import type { AttributePath, Call, ColumnReference, Expression, Literal } from "../expression.ts";
import { ATTRIBUTE_CONVERSIONS, attributeAt, toNumber } from "./attribute-values.ts";
import { type Evaluate, type MatchRow, type RowMatcher, Undecided, type Value } from "./row.ts";
import { TEXT_OPERATORS } from "./text-operators.ts";

/**
 * Conditions over a row of the logs as a function, with the meaning that their SQL has; all of them have to hold. Null
 * when a function in them has no counterpart here. For values whose reading is the store's own affair the function
 * says that it cannot tell.
 */
export function predicateMatcher(conditions: readonly Expression[]): RowMatcher | null {
  const evaluators: Evaluate[] = [];
  for (const condition of conditions) {
    const evaluate = compile(condition);
    if (evaluate === null) return null;
    evaluators.push(evaluate);
  }
  return (row) => {
    try {
      return evaluators.every((evaluate) => evaluate(row) === true);
    } catch (error) {
      if (error instanceof Undecided) return null;
      throw error;
    }
  };
}

/** Null when a function in the expression has no counterpart here. */
export function compile(expression: Expression): Evaluate | null {
  switch (expression.kind) {
    case "literal":
      return compileLiteral(expression);
    case "column":
      return compileColumn(expression);
    case "call":
      return compileCall(expression);
    default:
      return null;
  }
}

function compileLiteral({ type, value }: Literal): Evaluate | null {
  if (value === null || type === "dynamic" || type === "guid") return null;
  if (typeof value === "string") {
    const text = value.toWellFormed();
    return () => text;
  }
  const constant: Value = type === "int" ? BigInt(value) : value;
  return () => constant;
}

function compileColumn({ name, type }: ColumnReference): Evaluate | null {
  if (type === "string") return (row) => row.text(name);
  return type === "long" || type === "datetime" ? (row) => row.integer(name) : null;
}

function compileCall(call: Call): Evaluate | null {
  const { name, operands } = call;
  const [first, second] = operands;
  if (first === undefined) return null;
  switch (name) {
    case "and":
    case "or":
      return compileConnective(operands, name === "or");
    case "negation":
      return compileNegation(first);
    case "equal":
    case "notEqual":
      return second === undefined ? null : compileEquality(first, second, name === "equal");
    case "less":
    case "lessOrEqual":
    case "greater":
    case "greaterOrEqual":
      return second === undefined ? null : compileOrder(first, second, name);
    case "in":
      return compileMembership(operands);
    case "tostring":
      return compileText(first);
    case "isempty":
    case "isnotempty":
    case "notempty":
      return compileEmptiness(first, name === "isempty");
    default:
      return compileConversion(call) ?? compileTextOperator(call);
  }
}

/** False, or true for `or`, whatever the others are; else null if one is null. */
function compileConnective(operands: readonly Expression[], isOr: boolean): Evaluate | null {
  const evaluators = operands.map(compile);
  if (!evaluators.every((evaluate) => evaluate !== null)) return null;
  return (row) => {
    let result: Value = !isOr;
    for (const evaluate of evaluators) {
      const value = evaluate(row);
      if (value === isOr) return isOr;
      if (value === null) result = null;
    }
    return result;
  };
}

function compileNegation(operand: Expression): Evaluate | null {
  const evaluate = compile(operand);
  if (evaluate === null) return null;
  return (row) => {
    const value = evaluate(row);
    return value === null ? null : value !== true;
  };
}

/** Integers and reals compare by their exact values; everything else only with its like. */
function compileEquality(left: Expression, right: Expression, isEqual: boolean): Evaluate | null {
  const [one, other] = [compileCompared(left), compileCompared(right)];
  if (one === null || other === null) return null;
  return (row) => {
    const [a, b] = [one(row), other(row)];
    if (a === null && b === null) return null;
    if (a === null || b === null) return !isEqual;
    return same(a, b) === isEqual;
  };
}

function same(left: Value, right: Value): boolean {
  // biome-ignore lint/suspicious/noDoubleEquals: an integer and a real of one value are the same number.
  if (isNumber(left) && isNumber(right)) return left == right;
  return left === right;
}

/** An attribute that is compared as it is, with an integer or with another one, is a number. */
function compileCompared(operand: Expression): Evaluate | null {
  if (operand.kind !== "attribute") return compile(operand);
  const find = attributeOf(operand);
  return (row) => toNumber(find(row));
}

const ORDERED = new Set(["int", "long", "real", "datetime", "timespan"]);

function isOrdered({ kind, type }: Expression): boolean {
  return ORDERED.has(type) || kind === "attribute";
}

const ORDERS = {
  less: (left: bigint | number, right: bigint | number) => left < right,
  lessOrEqual: (left: bigint | number, right: bigint | number) => left <= right,
  greater: (left: bigint | number, right: bigint | number) => left > right,
  greaterOrEqual: (left: bigint | number, right: bigint | number) => left >= right,
};

/** Of numbers and times: texts are ordered by their bytes there, by other units here. */
function compileOrder(left: Expression, right: Expression, name: keyof typeof ORDERS): Evaluate | null {
  if (!isOrdered(left) || !isOrdered(right)) return null;
  const [one, other] = [compileCompared(left), compileCompared(right)];
  if (one === null || other === null) return null;
  const order = ORDERS[name];
  return (row) => {
    const [a, b] = [one(row), other(row)];
    return isNumber(a) && isNumber(b) ? order(a, b) : null;
  };
}

/** Of a text among constants. */
function compileMembership([value, ...list]: readonly Expression[]): Evaluate | null {
  const texts = list.flatMap((item) =>
    item.kind === "literal" && item.type === "string" && item.value !== null
      ? [item.value.toWellFormed()]
      : [],
  );
  const evaluate = value?.type === "string" && texts.length === list.length ? compile(value) : null;
  if (evaluate === null) return null;
  const members = new Set<Value>(texts);
  return (row) => members.has(evaluate(row));
}

/** The text of a text or an attribute; nothing is the empty text. */
function compileText(operand: Expression): Evaluate | null {
  if (operand.type === "string") return compile(operand);
  if (operand.kind !== "attribute") return null;
  const find = attributeOf(operand);
  return (row) => find(row)?.text ?? "";
}

function compileEmptiness(operand: Expression, isEmpty: boolean): Evaluate | null {
  const evaluate = compileText(operand);
  return evaluate === null ? null : (row) => (evaluate(row) === "") === isEmpty;
}

function compileConversion({ name, operands }: Call): Evaluate | null {
  const [operand] = operands;
  const convert = ATTRIBUTE_CONVERSIONS.get(name);
  if (convert === undefined || operand?.kind !== "attribute") return null;
  const find = attributeOf(operand);
  return (row) => convert(find(row));
}

function compileTextOperator({ name, operands }: Call): Evaluate | null {
  const [subject, needle, ...rest] = operands;
  const operator = TEXT_OPERATORS.get(name);
  if (operator === undefined || subject === undefined || rest.length > 0) return null;
  if (needle?.kind !== "literal" || needle.type !== "string" || needle.value === null) return null;
  const evaluate = compileText(subject);
  if (evaluate === null) return null;
  const test = operator(needle.value.toWellFormed());
  return (row) => {
    const text = evaluate(row);
    return typeof text === "string" && test(text);
  };
}

function attributeOf({ path }: AttributePath): (row: MatchRow) => ReturnType<MatchRow["attribute"]> {
  return attributeAt(path);
}

function isNumber(value: Value): value is bigint | number {
  return typeof value === "bigint" || typeof value === "number";
}

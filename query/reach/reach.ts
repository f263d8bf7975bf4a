import { LITERAL_MIN_BYTES } from "../bytes/literal-finder.ts";
import type { AttributePath, Call, Expression } from "../expression.ts";
import { longestRun, lowerAscii, readNeedle } from "../functions/needles.ts";
import { constantNeedles } from "../functions/term-search.ts";
import { ATTRIBUTE_CONVERSIONS } from "../match/attribute-values.ts";
import { isIndexed } from "../match/row-bound.ts";
import { TEXT_OPERATORS } from "../match/text-operators.ts";

/** What a test looks at: a column of the logs of type string by its public name, or the attribute of exactly that key. */
export type Subject =
  | { readonly kind: "column"; readonly name: string }
  | { readonly kind: "attribute"; readonly key: string };

/** What is decided of a row without the condition it belongs to, for many conditions at once. */
export type ReachTest = TextTest & {
  /** And an attribute is one of these numbers. */
  readonly number?: NumberTest;
};

type TextTest =
  /** The text with ASCII letters in lower case holds the literal, which has at least `LITERAL_MIN_BYTES`. */
  | { readonly kind: "holds"; readonly subject: Subject; readonly literal: string }
  /** The text, of an attribute that is no string its JSON, is one of these. */
  | { readonly kind: "is"; readonly subject: Subject; readonly texts: readonly string[] }
  /** The row has an attribute of the key. */
  | { readonly kind: "there"; readonly key: string };

/** The attribute of the path, by one of `ATTRIBUTE_CONVERSIONS`, is one of the numbers. */
interface NumberTest {
  readonly read: { readonly conversion: string; readonly path: readonly string[] };
  readonly numbers: readonly number[];
}

/** Tests of which one holds on every row that conditions take; without a test they take no row. */
type Reach = readonly ReachTest[];

/** More tests than these are dearer than the conditions themselves. */
export const REACH_MAX_TESTS = 200;

/**
 * The reach of conditions over the logs that all have to hold; null when there is none but every row. It only narrows:
 * whether a row is taken is for the conditions to say.
 *
 * A literal of a text that may have several spellings is its longest part that has one. An attribute of the path a, b may
 * lie in an attribute of the key a as JSON, with spellings of its own: of that key the test is that it is there.
 */
export function reachOf(conditions: readonly Expression[]): Reach | null {
  return reachOfAll(conditions.map(reach));
}

function reach(expression: Expression): Reach | null {
  if (expression.kind === "literal") return expression.value === false ? [] : null;
  if (expression.kind !== "call") return null;
  const { name, operands } = expression;
  const [first, second, ...rest] = operands;
  if (name === "and") return reachOfAll(operands.map(reach));
  if (name === "or") return reachOfAny(operands.map(reach));
  if (first === undefined) return null;
  if (name === "isnotempty" || name === "notempty")
    return reachOfPresence(first, (each) => each === "tostring");
  if (name === "hasAny" || name === "hasAll") return reachOfTerms(expression, first, name === "hasAny");
  if (name === "in" || name === "inIgnoreCase") return reachOfList(expression, first);
  if (second === undefined || rest.length > 0) return null;
  if (name === "equal") return reachOfEquality(first, second) ?? reachOfEquality(second, first);
  if (ORDERS.has(name)) return reachOfNumber(first) ?? reachOfNumber(second);
  const text = textOf(second);
  return text === null || !TEXT_OPERATORS.has(name) ? null : reachOfText(first, text, name.endsWith("Cs"));
}

const ORDERS: ReadonlySet<string> = new Set(["less", "lessOrEqual", "greater", "greaterOrEqual"]);

/** Each of them is one of all: the cheapest, and what number is asked for besides, since most rows have another. */
function reachOfAll(reaches: readonly (Reach | null)[]): Reach | null {
  const cheapest = reaches.reduce((one, other) => {
    if (one === null || other === null) return one ?? other;
    return costOf(other) < costOf(one) ? other : one;
  }, null);
  const number = reaches.map(numberOfAll).find((each) => each !== null);
  return cheapest?.map((test) => (number === undefined ? test : { number, ...test })) ?? null;
}

/** What all tests of a reach ask of the same attribute; null where they do not. */
function numberOfAll(reach: Reach | null): NumberTest | null {
  const number = reach?.[0]?.number;
  return number !== undefined && reach?.every((test) => test.number === number) ? number : null;
}

function reachOfAny(reaches: readonly (Reach | null)[]): Reach | null {
  const known = reaches.filter((each) => each !== null);
  if (known.length < reaches.length) return null;
  const byText = new Map(known.flat().map((test) => [JSON.stringify(test), test]));
  return byText.size > REACH_MAX_TESTS ? null : [...byText.values()];
}

/** A text that equals, begins with or has a literal holds it. */
function reachOfText(operand: Expression, text: string, isCaseSensitive: boolean): Reach | null {
  const literal = isCaseSensitive
    ? lowerAscii(text.toWellFormed())
    : (readNeedle(text).bytes ?? longestRun(text));
  if (utf8.encode(literal).length < LITERAL_MIN_BYTES) return null;
  return reachOfSubject(operand, (subject) => ({ kind: "holds", subject, literal }));
}

function reachOfTerms(call: Call, operand: Expression, isAny: boolean): Reach | null {
  const terms = constantNeedles(call);
  if (terms === undefined) return null;
  const reaches = terms.map((term) => reachOfText(operand, term, false));
  return isAny ? reachOfAny(reaches) : reachOfAll(reaches);
}

function reachOfList(call: Call, operand: Expression): Reach | null {
  const items = call.operands.slice(1);
  const texts = items.map(textOf);
  if (!texts.every((text) => text !== null)) return reachOfNumbers(operand, items);
  if (call.name === "in") return reachOfTexts(operand, texts);
  return reachOfAny(texts.map((text) => reachOfText(operand, text, false)));
}

function reachOfEquality(operand: Expression, other: Expression): Reach | null {
  const text = textOf(other);
  if (text !== null) return reachOfTexts(operand, [text]);
  return other.kind === "literal" && other.value !== null ? reachOfNumbers(operand, [other]) : null;
}

/** One of the values, which are no texts. */
function reachOfNumbers(operand: Expression, items: readonly Expression[]): Reach | null {
  const tests = reachOfNumber(operand);
  const number = numberTest(operand, items);
  return number === null ? tests : (tests?.map((test) => ({ ...test, number })) ?? null);
}

/** Null where they are too many, or not all of them numbers that a number of JavaScript is to the digit. */
function numberTest(operand: Expression, items: readonly Expression[]): NumberTest | null {
  if (operand.kind !== "call" || !NUMBERS.has(operand.type)) return null;
  const [read] = operand.operands;
  const numbers = items.map(numberOf);
  if (read === undefined || !isAttribute(read) || numbers.length > REACH_MAX_TESTS) return null;
  if (!numbers.every((number) => number !== null)) return null;
  return { read: { conversion: operand.name, path: read.path }, numbers };
}

const NUMBERS: ReadonlySet<string> = new Set(["int", "long", "real"]);

function numberOf(expression: Expression): number | null {
  if (expression.kind !== "literal" || !NUMBERS.has(expression.type) || expression.value === null)
    return null;
  const number = Number(expression.value);
  return Number.isSafeInteger(number) || (Number.isFinite(number) && !Number.isInteger(number))
    ? number
    : null;
}

/** One of the texts; the message is looked through anyway, and few of them are the same. */
function reachOfTexts(operand: Expression, texts: readonly string[]): Reach | null {
  if (operand.kind === "column" && operand.name === "message")
    return reachOfAny(texts.map((text) => reachOfText(operand, text, true)));
  // The empty text is also that of what is not there.
  if (texts.includes("")) return null;
  const wellFormed = texts.map((text) => text.toWellFormed());
  return reachOfSubject(operand, (subject) => ({ kind: "is", subject, texts: wellFormed }));
}

/** The test of the text of a column or an attribute; null for any other operand. */
function reachOfSubject(operand: Expression, test: (subject: Subject) => ReachTest): Reach | null {
  const read = operand.kind === "call" && operand.name === "tostring" ? operand.operands[0] : operand;
  if (read?.kind === "column" && read.type === "string") return [test({ kind: "column", name: read.name })];
  if (read === undefined || !isAttribute(read)) return null;
  const { whole, others } = keysOf(read);
  return [test({ kind: "attribute", key: whole }), ...others.map(isThere)];
}

/** Of an attribute that is read as a number or a truth value, in a condition that does not hold where it is not there. */
function reachOfNumber(operand: Expression): Reach | null {
  return reachOfPresence(operand, (name) => ATTRIBUTE_CONVERSIONS.has(name));
}

/** Of an attribute as it is, or in a conversion that makes nothing of what is not there. */
function reachOfPresence(operand: Expression, isConversion: (name: string) => boolean): Reach | null {
  const read = operand.kind === "call" && isConversion(operand.name) ? operand.operands[0] : operand;
  if (read === undefined || !isAttribute(read)) return null;
  const { whole, others } = keysOf(read);
  return [whole, ...others].map(isThere);
}

function isThere(key: string): ReachTest {
  return { kind: "there", key };
}

function isAttribute(expression: Expression): expression is AttributePath {
  return expression.kind === "attribute" && expression.column === "attrs";
}

/** The key that the path is, and those of attributes that may hold the rest of it. */
function keysOf({ path }: AttributePath): { readonly whole: string; readonly others: readonly string[] } {
  return { whole: path.join("."), others: path.slice(1).map((_, i) => path.slice(0, i + 1).join(".")) };
}

function textOf(expression: Expression): string | null {
  return expression.kind === "literal" && expression.type === "string" ? (expression.value ?? "") : null;
}

const utf8 = new TextEncoder();

/** How many rows are likely to pass, for choosing between two; no measure. */
function costOf(tests: Reach): number {
  return tests.reduce((total, test) => total + likelihood(test), 0);
}

function likelihood(test: ReachTest): number {
  if (test.kind === "there") return 0.5;
  if (test.kind === "holds") return 1 / 2 ** Math.min(utf8.encode(test.literal).length, 12);
  const isCommon = test.subject.kind === "column" && isIndexed(test.subject.name);
  return isCommon ? 0.2 * test.texts.length : 0.01;
}

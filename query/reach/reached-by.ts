import { allOf, anyOf, call, callOverload } from "../call.ts";
import { attribute, type Expression, literal } from "../expression.ts";
import { overload, parameter, repeated, type SqlTemplate } from "../functions/definition.ts";
import { columnOf, scan } from "../plan/build.ts";
import type { ReachTest, Subject } from "./reach.ts";

const HOLDS = ofTexts(
  (call) =>
    `multiMatchAny(lower(${call.operand(0)}), ${call.stringArray(textsIn(call).map(literalPattern))})`,
);
const IS = ofTexts(
  (call) => `multiMatchAny(${call.operand(0)}, ${call.stringArray(textsIn(call).map(wholePattern))})`,
);
const THERE = ofTexts((call) => `notEmpty(${call.operand(0)})`);
const OVERLOADS = { holds: HOLDS, is: IS, there: THERE };

/**
 * The condition that one of the tests holds, in one pass over a text for all that look at it; what number goes with which text is not
 * asked. No query can name it.
 */
export function reachedBy(tests: readonly ReachTest[]): Expression {
  const groups = Map.groupBy(tests, (test) => JSON.stringify(groupOf(test)));
  const conditions = groups.values().map((group) => {
    const [first] = group;
    if (first === undefined) throw new TypeError("a group of no tests");
    const isNumber = numberCondition(group);
    // What is a number is there.
    if (first.kind === "there" && isNumber !== null) return isNumber;
    const texts = [...new Set(group.flatMap(textsOf))].map((text) => literal("string", text));
    const holds = callOverload(first.kind, OVERLOADS[first.kind], [textOf(subjectOf(first)), ...texts]);
    return isNumber === null ? holds : allOf([holds, isNumber]);
  });
  return anyOf([...conditions]);
}

/** Tests of a group look at the same text, and at the same number if at any. */
function groupOf(test: ReachTest): readonly unknown[] {
  const read = test.number?.read;
  if (test.kind === "there" && read !== undefined) return [read];
  return [test.kind, subjectOf(test), read];
}

/** That the number is one of those that tests of a group ask for; null where they ask for none. */
function numberCondition(group: readonly ReachTest[]): Expression | null {
  const read = group[0]?.number?.read;
  if (read === undefined) return null;
  const numbers = [...new Set(group.flatMap(({ number }) => number?.numbers ?? []))];
  const items = numbers.map((number) =>
    Number.isInteger(number) ? literal("long", BigInt(number)) : literal("real", number),
  );
  return call("in", call(read.conversion, attribute("attrs", ...read.path)), ...items);
}

/** A text as a regular expression: what of ASCII is no letter and no digit might mean something else. */
export function literalPattern(text: string): string {
  return text.replace(
    /[^A-Za-z0-9\u0080-\u{10ffff}]/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}

/** A pattern of the text and nothing else; a line break may follow it. */
export function wholePattern(text: string): string {
  return `^${literalPattern(text)}$`;
}

function ofTexts(template: SqlTemplate) {
  return overload([parameter("text", "string"), repeated("of", "string")], "bool", "never", template);
}

function textsIn({ operands }: Parameters<SqlTemplate>[0]): string[] {
  return operands.slice(1).flatMap((each) => (each.kind === "literal" ? [String(each.value)] : []));
}

function textsOf(test: ReachTest): readonly string[] {
  if (test.kind === "there") return [];
  return test.kind === "holds" ? [test.literal] : test.texts;
}

function subjectOf(test: { readonly subject: Subject } | { readonly key: string }): Subject {
  return "subject" in test ? test.subject : { kind: "attribute", key: test.key };
}

function textOf(subject: Subject): Expression {
  if (subject.kind === "column") return columnOf(scan("logs"), subject.name);
  return call("tostring", attribute("attrs", subject.key));
}

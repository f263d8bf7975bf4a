import { isAscii } from "../case-folding.ts";
import { BEYOND_ASCII_TOKEN, isOfAsciiLetters, WORD_PART_MIN_CHARS, wordPartOf } from "../message-words.ts";
import {
  type CallWriter,
  type FunctionTable,
  type Parameter,
  parameter,
  repeated,
  simple,
  withCondition,
} from "./definition.ts";
import { foldedText } from "./folded-text.ts";
import { INDEX_GRAM_CHARS, likeAnywhere, lowerAscii, type Needle, readNeedle } from "./needles.ts";

const OPERANDS: readonly Parameter[] = [parameter("text", "any"), parameter("part", "any")];

/** The text of a literal string operand; undefined for any other operand. */
export function constantText(call: CallWriter, index: number): string | undefined {
  const operand = call.operands[index];
  return operand?.kind === "literal" && operand.type === "string" ? (operand.value ?? "") : undefined;
}

/** A condition on `lower(text)` that the index of the messages answers; undefined where it would rule nothing out. */
export function indexCondition(call: CallWriter, text: string, part: string): string | undefined {
  const isIndexable = call.operands[0]?.kind === "column" && [...part].length >= INDEX_GRAM_CHARS;
  return isIndexable ? like(call, text, lowerAscii(part)) : undefined;
}

export function allConditions(conditions: readonly (string | undefined)[]): string {
  return `(${conditions.filter((condition) => condition !== undefined).join(" AND ")})`;
}

/** Byte for byte in `lower(text)`, which is not written out where the text has no letters of other scripts. */
export function like(call: CallWriter, text: string, part: string): string {
  return `lower(${text}) LIKE ${call.parameter("String", likeAnywhere(part))}`;
}

/** The condition for a pattern over `lower(text)` that stands for a needle with letters beyond ASCII. */
function matchNeedle(call: CallWriter, text: string, needle: Needle, before: string, after: string): string {
  return allConditions([
    ...needle.runs.map((run) => like(call, text, run)),
    `NOT isASCII(${text})`,
    `match(lower(${text}), ${call.parameter("String", before + needle.pattern + after)})`,
  ]);
}

function contains(call: CallWriter): string {
  const text = call.textOperand(0);
  const part = constantText(call, 1);
  if (part === undefined) return `(position(${folded(call, 0)}, ${folded(call, 1)}) > 0)`;
  const needle = readNeedle(part);
  if (needle.bytes !== null) return `(${like(call, text, needle.bytes)})`;
  return matchNeedle(call, text, needle, "", "");
}

/** The same where the words of the text have an index that says more than its grams, or says it faster. */
function containsInWords(call: CallWriter): string | undefined {
  const part = constantText(call, 1);
  if (part === undefined) return undefined;
  if (!isOfAsciiLetters(part)) return withWordPart(call, part, () => contains(call));
  if (part.length < WORD_PART_MIN_CHARS) return undefined;
  const words = call.wordsOperand(0);
  return words && inAWord(call, words, lowerAscii(part));
}

function inAWord(call: CallWriter, words: string, part: string): string {
  return `(${words} LIKE ${call.parameter("String", likeAnywhere(part))})`;
}

/**
 * A condition for texts that hold the part, which has other characters than letters of ASCII, and what the index of words rules out for
 * it; undefined where that is nothing, or the grams rule out more.
 */
export function withWordPart(call: CallWriter, part: string, condition: () => string): string | undefined {
  const run = wordPartOf(part);
  if (isAscii(part) && (run === undefined || part.length >= INDEX_GRAM_CHARS)) return undefined;
  const words = call.wordsOperand(0);
  if (words === undefined) return undefined;
  return allConditions([
    isAscii(part) ? undefined : `hasToken(${words}, ${call.parameter("String", BEYOND_ASCII_TOKEN)})`,
    run === undefined ? undefined : inAWord(call, words, run),
    condition(),
  ]);
}

function containsCs(call: CallWriter): string {
  const text = call.textOperand(0);
  const part = constantText(call, 1);
  const found = `position(${text}, ${call.textOperand(1)}) > 0`;
  return allConditions([part === undefined ? undefined : indexCondition(call, text, part), found]);
}

/** The text begins or ends with the part, whatever the case. */
function atEdge(test: "startsWith" | "endsWith"): (call: CallWriter) => string {
  return (call) => {
    const text = call.textOperand(0);
    const part = constantText(call, 1);
    if (part === undefined) return `${test}(${folded(call, 0)}, ${folded(call, 1)})`;
    const needle = readNeedle(part);
    if (needle.bytes !== null) return `${test}(lower(${text}), ${call.parameter("String", needle.bytes)})`;
    return test === "startsWith"
      ? matchNeedle(call, text, needle, "\\A", "")
      : matchNeedle(call, text, needle, "", "\\z");
  };
}

function atEdgeCs(test: "startsWith" | "endsWith"): (call: CallWriter) => string {
  return (call) => {
    const text = call.textOperand(0);
    const part = constantText(call, 1);
    const found = `${test}(${text}, ${call.textOperand(1)})`;
    return allConditions([part === undefined ? undefined : indexCondition(call, text, part), found]);
  };
}

function equalIgnoreCase(call: CallWriter): string {
  const part = constantText(call, 1);
  const bytes = part === undefined ? null : readNeedle(part).bytes;
  return bytes === null
    ? `(${folded(call, 0)} = ${folded(call, 1)})`
    : `(lower(${call.textOperand(0)}) = ${call.parameter("String", bytes)})`;
}

/** Literals without cased letters beyond ASCII travel as one array, compared with `lower(text)`. */
function inIgnoreCase(call: CallWriter): string {
  const bytes: string[] = [];
  const others: string[] = [];
  for (const i of call.operands.keys()) {
    if (i === 0) continue;
    const part = constantText(call, i);
    const needle = part === undefined ? null : readNeedle(part).bytes;
    if (needle === null) others.push(folded(call, i));
    else bytes.push(needle);
  }
  const conditions = [
    ...(bytes.length === 0 ? [] : [`lower(${call.textOperand(0)}) IN ${call.stringArray(bytes)}`]),
    ...(others.length === 0 ? [] : [`has([${others.join(", ")}], ${folded(call, 0)})`]),
  ];
  return conditions.length === 0 ? "false" : `(${conditions.join(" OR ")})`;
}

/** The pattern language of LIKE: `%` is any text, `_` one character. A backslash is no escape. */
function likePattern(call: CallWriter): string {
  const pattern = constantText(call, 1);
  const bytes = pattern === undefined ? null : readNeedle(pattern).bytes;
  return bytes === null
    ? `(${folded(call, 0)} LIKE ${escapedBackslashes(folded(call, 1))})`
    : `(lower(${call.textOperand(0)}) LIKE ${escapedBackslashes(call.parameter("String", bytes))})`;
}

function escapedBackslashes(pattern: string): string {
  return `replaceAll(${pattern}, '\\\\', '\\\\\\\\')`;
}

function folded(call: CallWriter, index: number): string {
  return call.share(foldedText(call.share(call.textOperand(index))));
}

const LIKE_NOTE = "Kusto does not document this operator: % stands for any text and _ for one character.";

/** The operators on texts. A text is never null; a value of another type is taken as its text. */
export const STRING_OPERATORS = {
  contains: withCondition(
    simple("Substring, whatever the case.", OPERANDS, "bool", "never", contains),
    containsInWords,
  ),
  containsCs: simple("Substring.", OPERANDS, "bool", "never", containsCs),
  startswith: simple("Begins with it, whatever the case.", OPERANDS, "bool", "never", atEdge("startsWith")),
  startswithCs: simple("Begins with it.", OPERANDS, "bool", "never", atEdgeCs("startsWith")),
  endswith: simple("Ends with it, whatever the case.", OPERANDS, "bool", "never", atEdge("endsWith")),
  endswithCs: simple("Ends with it.", OPERANDS, "bool", "never", atEdgeCs("endsWith")),
  equalIgnoreCase: simple("The same text, whatever the case.", OPERANDS, "bool", "never", equalIgnoreCase),
  inIgnoreCase: simple(
    "One of the texts, whatever the case.",
    [parameter("text", "any"), repeated("item", "any")],
    "bool",
    "never",
    inIgnoreCase,
  ),
  like: {
    ...simple("Fits the pattern, whatever the case.", OPERANDS, "bool", "never", likePattern),
    approximate: LIKE_NOTE,
  },
  likeCs: {
    ...simple("Fits the pattern.", OPERANDS, "bool", "never", (call) => {
      const pattern = escapedBackslashes(call.textOperand(1));
      return `(${call.textOperand(0)} LIKE ${pattern})`;
    }),
    approximate: LIKE_NOTE,
  },
} as const satisfies FunctionTable;

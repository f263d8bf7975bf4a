import { isOfAsciiLetters } from "../message-words.ts";
import {
  type CallWriter,
  type FunctionTable,
  type Parameter,
  parameter,
  repeated,
  type SqlTemplate,
  simple,
  withCondition,
} from "./definition.ts";
import { foldedText } from "./folded-text.ts";
import { elementsOf, elementToText } from "./json-arrays.ts";
import { escapePattern, isTermCharacter, lowerAscii, patternGroups, readNeedle } from "./needles.ts";
import { allConditions, constantText, indexCondition, like, withWordPart } from "./string-operators.ts";

/** What an occurrence must not touch: a boundary is asked for only where the needle's own edge is of a term. */
interface TermRule {
  readonly startsTerm: boolean;
  readonly endsTerm: boolean;
  readonly ignoresCase: boolean;
}

/** The texts that ClickHouse looks for in one pass at the speed of a few. */
const NEEDLES_A_PASS = 50;

/** For more texts than these, patterns alone are faster than a search before them. */
const MAX_NEEDLES_TO_FILTER = 500;

/** More tokens than these, each of which is a search of its own, take longer than one pattern of all. */
const MAX_TOKENS = 8;

const NOT_IN_TERM = "[^\\p{L}\\p{N}]";

/** The patterns of what must be before and behind an occurrence. */
function boundaries(text: string, rule: TermRule): { readonly before: string; readonly after: string } {
  const characters = [...text];
  return {
    before: rule.startsTerm && isTermCharacter(characters[0]) ? `(?:\\A|${NOT_IN_TERM})` : "",
    after: rule.endsTerm && isTermCharacter(characters.at(-1)) ? `(?:\\z|${NOT_IN_TERM})` : "",
  };
}

/**
 * A term that the tokens of ClickHouse answer: they end at anything of ASCII but letters and digits, as terms do, and
 * nowhere else. So a text that has the token has the term, and one that has the term alone has it beside a character
 * beyond ASCII.
 */
const TOKEN = /^[0-9A-Za-z]+$/;

/**
 * True for the texts with one of the tokens, and for those that fit the pattern of the terms, which is tried only on
 * the others: ClickHouse compiles a pattern anew for every block of rows, and one with all the letters there are takes
 * longer for that than for the rows. `searched` is the text as the tokens are spelt.
 */
function hasToken(call: CallWriter, searched: string, tokens: readonly string[], pattern: string): string {
  const found = tokens.map((token) => `hasToken(${searched}, ${call.parameter("String", token)}), true`);
  return `multiIf(${found.join(", ")}, match(${searched}, ${call.parameter("String", pattern)}))`;
}

function hasConstant(call: CallWriter, text: string, term: string, rule: TermRule): string {
  if (term === "") return "true";
  const { before, after } = boundaries(term, rule);
  const isToken = rule.startsTerm && rule.endsTerm && TOKEN.test(term);
  if (!rule.ignoresCase) {
    const found =
      indexCondition(call, text, term) ?? `position(${text}, ${call.parameter("String", term)}) > 0`;
    const pattern = before + escapePattern(term) + after;
    return allConditions([
      found,
      isToken
        ? hasToken(call, text, [term], pattern)
        : `match(${text}, ${call.parameter("String", pattern)})`,
    ]);
  }
  const { bytes, runs, pattern } = readNeedle(term);
  const bounded = before + pattern + after;
  return allConditions([
    ...(bytes === null ? runs : [bytes]).map((run) => like(call, text, run)),
    bytes === null ? `NOT isASCII(${text})` : undefined,
    isToken && bytes !== null
      ? hasToken(call, `lower(${text})`, [bytes], bounded)
      : `match(lower(${text}), ${call.parameter("String", bounded)})`,
  ]);
}

/** Marks where terms begin and end, so that an occurrence at their edges can be found byte for byte. */
function markedTerms(text: string): string {
  return `replaceRegexpAll(${text}, '[\\\\p{L}\\\\p{N}]+', '\\x01\\\\0\\x02')`;
}

/** The marks of a needle without those that need not be there. `marked` must be shared, or a variable. */
function markedNeedle(needle: string, rule: TermRule): string {
  const trimmed = [...(rule.startsTerm ? [] : ["^\\\\x01"]), ...(rule.endsTerm ? [] : ["\\\\x02$"])];
  const marked = markedTerms(needle);
  return trimmed.length === 0 ? marked : `replaceRegexpAll(${marked}, '${trimmed.join("|")}', '')`;
}

function has(rule: TermRule): SqlTemplate {
  return (call) => {
    const needle = constantText(call, 1);
    if (needle !== undefined) return hasConstant(call, call.textOperand(0), needle, rule);
    const part = searched(call, call.textOperand(1), rule);
    return `(position(${markedText(call, rule)}, ${markedNeedle(part, rule)}) > 0)`;
  };
}

function searched(call: CallWriter, text: string, rule: TermRule): string {
  return rule.ignoresCase ? call.share(foldedText(call.share(text))) : call.share(text);
}

function markedText(call: CallWriter, rule: TermRule): string {
  return call.share(markedTerms(searched(call, call.textOperand(0), rule)));
}

const ANY_CASE: TermRule = { startsTerm: true, endsTerm: true, ignoresCase: true };

/** The needles behind the first operand: literals, or one dynamic array; undefined when they are not constants. */
export function constantNeedles({ operands }: Pick<CallWriter, "operands">): readonly string[] | undefined {
  const needles: string[] = [];
  for (const operand of operands.slice(1)) {
    if (operand.kind !== "literal") return undefined;
    if (operand.type === "string") needles.push(operand.value ?? "");
    else if (operand.type === "dynamic") needles.push(...textsOf(operand.value));
    else needles.push(operand.value === null ? "" : String(operand.value));
  }
  return needles;
}

/** The texts of a dynamic value, one for each element of an array. */
function textsOf(json: string | null): string[] {
  if (json === null || json === "") return [];
  const value: unknown = JSON.parse(json);
  return (Array.isArray(value) ? value : [value]).map((element: unknown) => {
    if (element === null) return "";
    return typeof element === "string" ? element : JSON.stringify(element);
  });
}

/** The texts behind the first operand as one Array(String). */
export function needleArray(call: CallWriter): string {
  const texts = call.operands.slice(1).map((operand, i) => {
    if (operand.type !== "dynamic") return `[${call.textOperand(i + 1)}]`;
    const json = call.sharedOperand(i + 1);
    return `if(startsWith(${json}, '['), arrayMap(x -> ${elementToText("x")}, ${elementsOf(json)}), arrayFilter(x -> x != '', [${elementToText(json)}]))`;
  });
  return texts.length === 1 ? texts.join("") : `arrayConcat(${texts.join(", ")})`;
}

/** Whether the text holds the term, which is one token of its words, or has one in it. */
function hasWord(call: CallWriter, term: string): string | undefined {
  if (!isOfAsciiLetters(term))
    return withWordPart(call, term, () => hasConstant(call, call.textOperand(0), term, ANY_CASE));
  const words = call.wordsOperand(0);
  return words && `hasToken(${words}, ${call.parameter("String", lowerAscii(term))})`;
}

function hasInWords(call: CallWriter): string | undefined {
  const term = constantText(call, 1);
  return term === undefined ? undefined : hasWord(call, term);
}

function hasAnyInWords(call: CallWriter): string | undefined {
  const terms = constantNeedles(call);
  if (terms === undefined || terms.length === 0 || terms.length > MAX_TOKENS) return undefined;
  const found = [...new Set(terms)].map((term) => hasWord(call, term));
  return found.includes(undefined) ? undefined : `(${found.join(" OR ")})`;
}

function hasAllInWords(call: CallWriter): string | undefined {
  const terms = constantNeedles(call);
  if (terms === undefined || terms.length > MAX_TOKENS) return undefined;
  const found = [...new Set(terms)].map((term) => ({ term, inWords: hasWord(call, term) }));
  if (found.every(({ inWords }) => inWords === undefined)) return undefined;
  return allConditions(
    found.map(({ term, inWords }) => inWords ?? hasConstant(call, call.textOperand(0), term, ANY_CASE)),
  );
}

function hasAny(call: CallWriter): string {
  const needles = constantNeedles(call);
  if (needles === undefined) return `arrayExists(x -> ${isMarked(call)}, ${needleArray(call)})`;
  const [first, ...others] = new Set(needles);
  if (first === undefined) return "false";
  const text = call.textOperand(0);
  if (others.length === 0) return hasConstant(call, text, first, ANY_CASE);
  return anyOfMany(call, text, [first, ...others]);
}

/** A condition that holds for texts with one of many parts in any case, which the index of the messages answers. */
export function filterForAny(call: CallWriter, text: string, parts: readonly string[]): string | undefined {
  if (parts.length > MAX_NEEDLES_TO_FILTER) return undefined;
  const bytes = parts.map((part) => readNeedle(part).bytes);
  const plain = bytes.filter((part) => part !== null);
  const searches = chunks(plain, NEEDLES_A_PASS).map(
    (chunk) => `multiSearchAny(lower(${text}), ${call.stringArray(chunk)})`,
  );
  if (plain.length < parts.length) searches.push(`NOT isASCII(${text})`);
  return `(${searches.join(" OR ")})`;
}

/** Patterns of many texts, tried only on what holds one of them. */
function anyOfMany(call: CallWriter, text: string, needles: readonly string[]): string {
  if (needles.includes("")) return "true";
  const matches = [...Map.groupBy(needles, edgesOf).values()].flatMap((group) => {
    const { before, after } = boundaries(group[0] ?? "", ANY_CASE);
    return patternGroups(group.map((needle) => readNeedle(needle).pattern)).map((patterns) => {
      const pattern = `${before}(?:${patterns.join("|")})${after}`;
      if (group.length <= MAX_TOKENS && group.every((needle) => TOKEN.test(needle)))
        return hasToken(call, `lower(${text})`, group.map(lowerAscii), pattern);
      return `match(lower(${text}), ${call.parameter("String", pattern)})`;
    });
  });
  return allConditions([filterForAny(call, text, needles), `(${matches.join(" OR ")})`]);
}

/** The same for texts that have the same boundaries. */
function edgesOf(text: string): string {
  const { before, after } = boundaries(text, ANY_CASE);
  return `${before} ${after}`;
}

function hasAll(call: CallWriter): string {
  const needles = constantNeedles(call);
  if (needles === undefined) return `arrayAll(x -> ${isMarked(call)}, ${needleArray(call)})`;
  const text = call.textOperand(0);
  const conditions = [...new Set(needles)].map((needle) => hasConstant(call, text, needle, ANY_CASE));
  return conditions.length === 0 ? "true" : allConditions(conditions);
}

/** Whether the text holds the term x, for a lambda. */
function isMarked(call: CallWriter): string {
  return `position(${markedText(call, ANY_CASE)}, ${markedTerms(foldedText("x"))}) > 0`;
}

function hasAnyIndex(call: CallWriter): string {
  const needles = constantNeedles(call);
  if (needles === undefined)
    return `(toInt64(arrayFirstIndex(x -> ${isMarked(call)}, ${needleArray(call)})) - 1)`;
  const text = call.textOperand(0);
  const branches = needles.map((needle, i) => `${hasConstant(call, text, needle, ANY_CASE)}, ${i}`);
  return branches.length === 0 ? "toInt64(-1)" : `toInt64(multiIf(${branches.join(", ")}, -1))`;
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}

const PAIR: readonly Parameter[] = [parameter("text", "any"), parameter("term", "any")];
const LIST: readonly Parameter[] = [parameter("text", "any"), repeated("term", "any")];

function termOperator(summary: string, rule: TermRule) {
  return simple(summary, PAIR, "bool", "never", has(rule));
}

/** The operators that look for whole terms: letters and digits of any script, with anything else around them. */
export const TERM_OPERATORS = {
  has: withCondition(termOperator("Holds the term, whatever the case.", ANY_CASE), hasInWords),
  hasCs: termOperator("Holds the term.", { ...ANY_CASE, ignoresCase: false }),
  hasprefix: termOperator("Holds a term that begins with it, whatever the case.", {
    ...ANY_CASE,
    endsTerm: false,
  }),
  hasprefixCs: termOperator("Holds a term that begins with it.", {
    startsTerm: true,
    endsTerm: false,
    ignoresCase: false,
  }),
  hassuffix: termOperator("Holds a term that ends with it, whatever the case.", {
    ...ANY_CASE,
    startsTerm: false,
  }),
  hassuffixCs: termOperator("Holds a term that ends with it.", {
    startsTerm: false,
    endsTerm: true,
    ignoresCase: false,
  }),
  hasAny: withCondition(
    simple("Holds one of the terms, whatever the case.", LIST, "bool", "never", hasAny),
    hasAnyInWords,
  ),
  hasAll: withCondition(
    simple("Holds all of the terms, whatever the case.", LIST, "bool", "never", hasAll),
    hasAllInWords,
  ),
} as const satisfies FunctionTable;

export const TERM_FUNCTIONS = {
  has_any_index: simple(
    "The position of the first of the terms that the text holds, -1 when it holds none.",
    [parameter("source", "any"), parameter("values", "dynamic")],
    "long",
    "never",
    hasAnyIndex,
  ),
} as const satisfies FunctionTable;

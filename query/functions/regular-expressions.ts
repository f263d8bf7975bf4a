import { characterCount, countOf, indexWithin, positionFunction } from "./character-positions.ts";
import {
  type CallWriter,
  constant,
  FunctionArgumentError,
  type FunctionDefinition,
  type FunctionTable,
  overload,
  type Parameter,
  parameter,
  simple,
} from "./definition.ts";
import { type RegexPattern, readRegex } from "./regex-syntax.ts";
import { RegexSyntaxError } from "./regex-tokens.ts";
import { allConditions, constantText, indexCondition } from "./string-operators.ts";

/** The pattern of an operand. Throws a FunctionArgumentError when it cannot be honoured. */
function patternOf(call: CallWriter, index: number): RegexPattern {
  const text = constantText(call, index);
  if (text === undefined) throw new FunctionArgumentError(index, "a pattern has to be a constant text");
  try {
    return readRegex(text);
  } catch (error) {
    if (error instanceof RegexSyntaxError) throw new FunctionArgumentError(index, error.message);
    throw error;
  }
}

function patternPlace(call: CallWriter, index: number): string {
  return call.parameter("String", patternOf(call, index).text);
}

function matchesRegex(call: CallWriter): string {
  const text = call.textOperand(0);
  const { text: pattern, requiredText } = patternOf(call, 1);
  return allConditions([
    indexCondition(call, text, requiredText),
    `match(${text}, ${call.parameter("String", pattern)})`,
  ]);
}

/** The number of a group, which the pattern must have. */
function groupNumber(pattern: RegexPattern, group: string | number, index: number): number {
  const number = typeof group === "string" ? pattern.groupNames.get(group) : group;
  if (number === undefined || !Number.isInteger(number) || number < 0 || number > pattern.groupCount)
    throw new FunctionArgumentError(index, `the pattern has no group ${group}`);
  return number;
}

function extract(call: CallWriter): string {
  const pattern = patternOf(call, 0);
  const group = call.operands[1];
  if (group?.kind !== "literal" || typeof group.value !== "bigint")
    throw new FunctionArgumentError(1, "the number of the group has to be a constant");
  const number = groupNumber(pattern, Number(group.value), 1);
  return `regexpExtract(${call.operand(2)}, ${call.parameter("String", pattern.text)}, ${number})`;
}

/** All matches: a list of texts when one group is asked for, else a list of lists; null without a match. */
function extractAll(call: CallWriter): string {
  const pattern = patternOf(call, 0);
  if (pattern.groupCount === 0)
    throw new FunctionArgumentError(0, "the pattern has no group in brackets to extract");
  const groups = call.operands.length > 2 ? chosenGroups(call, pattern) : allGroups(pattern);
  const text = call.operand(call.operands.length - 1);
  const matches = call.share(`extractAllGroupsVertical(${text}, ${call.parameter("String", pattern.text)})`);
  const [only, ...others] = groups;
  const chosen =
    others.length === 0
      ? `arrayMap(x -> x[${only}], ${matches})`
      : `arrayMap(x -> [${groups.map((group) => `x[${group}]`).join(", ")}], ${matches})`;
  return `if(empty(${matches}), '', toJSONString(${chosen}))`;
}

function allGroups(pattern: RegexPattern): number[] {
  return Array.from({ length: pattern.groupCount }, (_, i) => i + 1);
}

/** The groups that a literal array names by number or by name. */
function chosenGroups(call: CallWriter, pattern: RegexPattern): number[] {
  const operand = call.operands[1];
  const json = operand?.kind === "literal" && operand.type === "dynamic" ? operand.value : null;
  const chosen: unknown = json === null || json === "" ? null : JSON.parse(json);
  if (!Array.isArray(chosen) || chosen.length === 0)
    throw new FunctionArgumentError(1, "the groups have to be a constant array of numbers and names");
  return chosen.map((group: unknown) => {
    if (typeof group !== "string" && typeof group !== "number")
      throw new FunctionArgumentError(1, "a group is named by its number or its name");
    const number = groupNumber(pattern, group, 1);
    if (number === 0) throw new FunctionArgumentError(1, "groups are counted from 1");
    return number;
  });
}

/** Stands for a backslash in a replacement: ClickHouse takes one before a digit for a group, whatever is before it. */
const BACKSLASH = "\\x1a\\x01";

/** In a replacement `\\1` is the first group, `\\0` the match, and `\\\\` a backslash. */
function replaceRegex(source: number, lookup: number, rewrite: number): (call: CallWriter) => string {
  return (call) => {
    const { groupCount, text: pattern } = patternOf(call, lookup);
    const [text, place] = [call.operand(source), call.parameter("String", pattern)];
    const last = Math.min(groupCount, 9);
    const replacement = constantText(call, rewrite);
    if (replacement?.includes("\\") === false)
      return `replaceRegexpAll(${text}, ${place}, ${call.operand(rewrite)})`;
    const unknown = replacement
      ?.replaceAll("\\\\", "")
      .match(/\\(\d)/g)
      ?.find((group) => Number(group[1]) > last);
    if (unknown !== undefined)
      throw new FunctionArgumentError(rewrite, `the pattern has no group ${unknown}`);
    return `replaceAll(replaceRegexpAll(${text}, ${place}, ${groupsOnly(call.operand(rewrite), last)}), '${BACKSLASH}', '\\\\')`;
  };
}

/** A replacement in which no backslash is left but those of groups that there are. */
function groupsOnly(replacement: string, last: number): string {
  const group = "\\x1a\\x02";
  const pairs = `replaceAll(${replacement}, '\\\\\\\\', '${BACKSLASH}')`;
  const groups = `replaceRegexpAll(${pairs}, '\\\\\\\\([0-${last}])', '${group}\\\\1')`;
  return `replaceAll(replaceAll(${groups}, '\\\\', '${BACKSLASH}'), '${group}', '\\\\')`;
}

/** Takes one match away at each of the ends. */
function trim(ends: readonly ("start" | "end")[]): (call: CallWriter) => string {
  return (call) => {
    const { text: pattern } = patternOf(call, 0);
    return ends.reduce((text, end) => {
      const anchored = end === "start" ? `\\A(?:${pattern})` : `(?:${pattern})\\z`;
      return `replaceRegexpOne(${text}, ${call.parameter("String", anchored)}, '')`;
    }, call.operand(1));
  };
}

function countOfKind(call: CallWriter): string {
  const kind = call.operands.length < 3 ? "normal" : constantText(call, 2);
  if (kind === "normal") return countOf(call);
  if (kind !== "regex") throw new FunctionArgumentError(2, 'the kind is "normal" or "regex"');
  return `toInt64(countMatches(${call.operand(0)}, ${patternPlace(call, 1)}))`;
}

function indexOfRegex(call: CallWriter): string {
  const text = call.share(call.textOperand(0));
  const place = patternPlace(call, 1);
  const find = (window: string, occurrence = "1") => {
    const at = call.share(`regexpPosition(${window}, ${place}, 1, ${occurrence})`);
    return `if(${at} = 0, toInt64(-1), toInt64(lengthUTF8(substring(${window}, 1, ${at} - 1))))`;
  };
  if (call.operands.length === 2) return find(text);
  return `if(${characterCount(call, 2, 0)} < 0, NULL, ${indexWithin(call, text, find)})`;
}

const BOUNDARIES = "\\b knows the letters and digits of ASCII only.";

function regexFunction(
  summary: string,
  parameters: readonly Parameter[],
  result: "string" | "long" | "bool" | "dynamic",
  template: (call: CallWriter) => string,
): FunctionDefinition {
  return { ...simple(summary, parameters, result, "never", template), approximate: BOUNDARIES };
}

const PATTERN_AND_SOURCE = [constant("regex", "string"), parameter("source", "string")];

export const REGEX_OPERATORS = {
  matchesRegex: regexFunction(
    "Holds a match of the pattern.",
    [parameter("text", "any"), constant("pattern", "string")],
    "bool",
    matchesRegex,
  ),
} as const satisfies FunctionTable;

/** Functions with patterns, which have to be constant: they are checked when a query is compiled. */
export const REGEX_FUNCTIONS = {
  extract: regexFunction(
    "The text of a group in the first match; 0 is the whole match.",
    [constant("regex", "string"), constant("captureGroup", "long"), parameter("source", "string")],
    "string",
    extract,
  ),
  extract_all: {
    summary: "The texts of the groups in all matches; null without a match.",
    approximate: BOUNDARIES,
    overloads: [
      overload(PATTERN_AND_SOURCE, "dynamic", "never", extractAll),
      overload(
        [constant("regex", "string"), constant("captureGroups", "dynamic"), parameter("source", "string")],
        "dynamic",
        "never",
        extractAll,
      ),
    ],
  },
  replace_regex: regexFunction(
    "Every match replaced.",
    [
      parameter("source", "string"),
      constant("lookup_regex", "string"),
      parameter("rewrite_pattern", "string"),
    ],
    "string",
    replaceRegex(0, 1, 2),
  ),
  replace: regexFunction(
    "Every match replaced; the old form of replace_regex.",
    [constant("regex", "string"), parameter("rewrite", "string"), parameter("source", "string")],
    "string",
    replaceRegex(2, 0, 1),
  ),
  trim: regexFunction("Without one match at each end.", PATTERN_AND_SOURCE, "string", trim(["start", "end"])),
  trim_start: regexFunction("Without a match at the start.", PATTERN_AND_SOURCE, "string", trim(["start"])),
  trim_end: regexFunction("Without a match at the end.", PATTERN_AND_SOURCE, "string", trim(["end"])),
  countof: {
    summary: 'The number of occurrences, which may overlap; of matches that do not with kind "regex".',
    approximate: BOUNDARIES,
    overloads: [
      overload([parameter("source", "string"), parameter("search", "string")], "long", "never", countOfKind),
      overload(
        [parameter("source", "string"), parameter("search", "string"), constant("kind", "string")],
        "long",
        "never",
        countOfKind,
      ),
    ],
  },
  indexof_regex: {
    ...positionFunction(
      "The position of the first match, from 0, and -1 without one.",
      constant("match", "string"),
      indexOfRegex,
    ),
    approximate: BOUNDARIES,
  },
  regex_quote: regexFunction(
    "The text with its special characters escaped for a pattern.",
    [parameter("text", "string")],
    "string",
    (call) =>
      `replaceRegexpAll(${call.operand(0)}, '[\\\\\\\\^$.|?*+()\\\\[\\\\]{}\\\\-#&~]', '\\\\\\\\\\\\0')`,
  ),
} as const satisfies FunctionTable;

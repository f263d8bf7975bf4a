import { characterCount, splitByAnything } from "./character-positions.ts";
import {
  type CallWriter,
  constant,
  FunctionArgumentError,
  type FunctionTable,
  optional,
  overload,
  parameter,
  repeated,
  type SqlTemplate,
  simple,
  stringsFunction,
} from "./definition.ts";
import { elementsOf, elementToText } from "./json-arrays.ts";
import { lowerCase, upperCase } from "./letter-case.ts";
import { constantText } from "./string-operators.ts";

/** What `strrep` makes at most of a value: enough for any text that is for people. */
const MAX_REPETITIONS = 10_000;

/** A template over the texts of the operands, which may be of any type and are written any number of times. */
export function overTexts(write: (...texts: string[]) => string): SqlTemplate {
  return (call) => write(...call.operands.map((_, i) => call.share(call.textOperand(i))));
}

/** Characters from a position counted from 0, from the end if negative. */
function substring(call: CallWriter): string {
  const start = characterCount(call, 1, 0);
  const length = call.operands.length < 3 ? "" : `, greatest(${characterCount(call, 2, 0)}, 0)`;
  const operand = call.operands[1];
  if (operand?.kind === "literal" && typeof operand.value === "bigint" && operand.value >= 0n)
    return `substringUTF8(${call.textOperand(0)}, ${start} + 1${length})`;
  const text = call.share(call.textOperand(0));
  const from = call.share(`if(${start} < 0, toInt64(lengthUTF8(${text})) + ${start}, ${start})`);
  return `if(${from} < 0, '', substringUTF8(${text}, greatest(${from}, 0) + 1${length}))`;
}

/** Any text of the operands, one behind the other. */
function concatenation(call: CallWriter, from: number, delimiter?: string): string {
  const texts = call.operands.slice(from).map((_, i) => call.textOperand(i + from));
  const parts =
    delimiter === undefined ? texts : texts.flatMap((text, i) => (i === 0 ? [text] : [delimiter, text]));
  return parts.length === 1 ? `toString(${parts.join("")})` : `concat(${parts.join(", ")})`;
}

function splitParts(call: CallWriter): string {
  const text = call.share(call.textOperand(0));
  const delimiter = constantText(call, 1);
  if (delimiter === undefined) return splitByAnything(text, call.share(call.textOperand(1)));
  return delimiter === "" ? `[${text}]` : `splitByString(${call.parameter("String", delimiter)}, ${text})`;
}

function allParts(call: CallWriter): string | undefined {
  return call.operands.length < 3 ? call.share(splitParts(call)) : undefined;
}

function onePart(call: CallWriter): string {
  const all = call.share(splitParts(call));
  const index = characterCount(call, 2, -1);
  return `if(${index} < 0 OR ${index} >= length(${all}), '', toJSONString([${all}[${index} + 1]]))`;
}

/** A text is empty without characters, anything else when it is null. */
function isEmpty(call: CallWriter): string {
  const operand = call.operands[0];
  if (operand?.type === "string" || operand?.type === "guid") return `(${call.storedOperand(0)} = '')`;
  if (operand?.type === "dynamic") return `(${call.textOperand(0)} = '')`;
  return operand?.isNullable ? `isNull(${call.operand(0)})` : "false";
}

function repetition(call: CallWriter): string {
  const count = `toUInt32(least(greatest(${characterCount(call, 1, 0)}, 0), ${MAX_REPETITIONS}))`;
  const text = call.share(call.textOperand(0));
  if (call.operands.length < 3) return `repeat(${text}, ${count})`;
  const delimiter = call.textOperand(2);
  return `if(${count} = 0, '', concat(${text}, repeat(concat(${delimiter}, ${text}), ${count} - 1)))`;
}

/** Every character of the first list becomes the one at its place in the second, whose last stands for all further. */
function translate(call: CallWriter): string {
  const search = [...new Set([...(constantText(call, 0) ?? "")])];
  const replacement = [...(constantText(call, 1) ?? "")];
  const text = call.operand(2);
  if (search.length === 0) return text;
  const last = replacement.at(-1);
  const to = last === undefined ? "" : search.map((_, i) => replacement[i] ?? last).join("");
  return `translateUTF8(${text}, ${call.parameter("String", search.join(""))}, ${call.parameter("String", to)})`;
}

const ANY_TEXT = [parameter("value", "any")];

function textFunction(summary: string, result: "string" | "long" | "bool", write: (text: string) => string) {
  return simple(summary, ANY_TEXT, result, "never", (call) => write(call.textOperand(0)));
}

const isNotEmpty = textFunctionOfAny("Neither null nor an empty text.", (call) => `(NOT ${isEmpty(call)})`);

function textFunctionOfAny(summary: string, template: SqlTemplate) {
  return simple(summary, ANY_TEXT, "bool", "never", template);
}

const JOIN = simple(
  "The texts of the elements of an array, with a delimiter between them.",
  [parameter("array", "dynamic"), parameter("delimiter", "any")],
  "string",
  "never",
  (call) => {
    const texts = `arrayMap(x -> ${elementToText("if(x = 'null', '', x)")}, ${elementsOf(call.operand(0))})`;
    const delimiter = constantText(call, 1);
    if (delimiter !== undefined) return `arrayStringConcat(${texts}, ${call.parameter("String", delimiter)})`;
    const between = call.share(call.textOperand(1));
    return `substring(arrayStringConcat(arrayMap(x -> concat(${between}, x), ${texts})), length(${between}) + 1)`;
  },
);

/** The strings of a constant array; undefined for anything else. */
function constantTexts(call: CallWriter, index: number): readonly string[] | undefined {
  const operand = call.operands[index];
  if (operand?.kind !== "literal" || operand.type !== "dynamic" || operand.value === null) return undefined;
  const value: unknown = operand.value === "" ? null : JSON.parse(operand.value);
  return Array.isArray(value) && value.every((element) => typeof element === "string") ? value : undefined;
}

/** In no text, and no text to look for is a part of it: what stands for a text that was found, by its number. */
function placeOf(number: number): string {
  const bits = number.toString(2).padStart(PLACE_BITS, "0");
  return `\u001f\u001a${bits.replaceAll("0", "\u001d").replaceAll("1", "\u001e")}\u001f`;
}
const PLACE_BITS = 16;

/** The texts are looked for one after the other, in what those before have left; no replacement is replaced again. */
function replaceStrings(call: CallWriter): string {
  const lookups = constantTexts(call, 1);
  if (lookups === undefined) throw new FunctionArgumentError(1, "a constant array of strings is needed");
  const rewrites = constantTexts(call, 2);
  if (rewrites?.length !== lookups.length)
    throw new FunctionArgumentError(2, "a constant array of as many strings is needed");
  const wanted = lookups.flatMap((lookup, i) => {
    const place = call.parameter("String", placeOf(i));
    const rewrite = call.parameter("String", rewrites[i] ?? "");
    return lookup === "" ? [] : [{ lookup: call.parameter("String", lookup), place, rewrite }];
  });
  const marked = wanted.reduce(
    (text, { lookup, place }) => `replaceAll(${text}, ${lookup}, ${place})`,
    call.textOperand(0),
  );
  return wanted.reduce((text, { place, rewrite }) => `replaceAll(${text}, ${place}, ${rewrite})`, marked);
}

/** Functions on the characters of texts. */
export const STRING_FUNCTIONS = {
  strlen: textFunction("The number of characters.", "long", (text) => `toInt64(lengthUTF8(${text}))`),
  string_size: textFunction("The number of bytes.", "long", (text) => `toInt64(length(${text}))`),
  toupper: simple("In upper case.", ANY_TEXT, "string", "never", overTexts(upperCase)),
  tolower: simple("In lower case.", ANY_TEXT, "string", "never", overTexts(lowerCase)),
  reverse: textFunction(
    "The characters from the last to the first.",
    "string",
    (text) => `reverseUTF8(${text})`,
  ),
  isascii: textFunction("Only characters of ASCII.", "bool", (text) => `isASCII(${text})`),
  isutf8: textFunction("Valid UTF-8.", "bool", (text) => `toBool(isValidUTF8(${text}))`),
  isempty: textFunctionOfAny("Null, or an empty text.", isEmpty),
  isnotempty: isNotEmpty,
  notempty: isNotEmpty,
  substring: {
    summary:
      "The characters from a position, counted from 0; from the end if it is negative; none of a position before the text.",
    overloads: [
      overload(
        [parameter("source", "any"), parameter("start", "long"), optional("length", "long")],
        "string",
        "never",
        substring,
      ),
    ],
  },
  strcat: simple(
    "The texts of the values, one behind the other.",
    [parameter("first", "any"), repeated("other", "any")],
    "string",
    "never",
    (call) => concatenation(call, 0),
  ),
  strcat_delim: simple(
    "The texts of the values with a delimiter between them.",
    [parameter("delimiter", "any"), parameter("first", "any"), repeated("other", "any")],
    "string",
    "never",
    (call) => concatenation(call, 1, call.share(call.textOperand(0))),
  ),
  strcat_array: JOIN,
  array_strcat: JOIN,
  split: stringsFunction(
    "The parts between delimiters; with an index, an array of that part, or null.",
    [parameter("source", "any"), parameter("delimiter", "string"), optional("requestedIndex", "long")],
    allParts,
    onePart,
  ),
  strrep: {
    ...simple(
      "The text of the value several times, with a delimiter between them.",
      [parameter("value", "any"), parameter("multiplier", "long"), optional("delimiter", "any")],
      "string",
      "never",
      repetition,
    ),
    approximate: `At most ${MAX_REPETITIONS} times.`,
  },
  strcmp: simple(
    "-1, 0 or 1: smaller, the same or larger, by code points.",
    [parameter("left", "any"), parameter("right", "any")],
    "long",
    "never",
    overTexts((left, right) => `toInt64(multiIf(${left} < ${right}, -1, ${left} > ${right}, 1, 0))`),
  ),
  replace_string: simple(
    "Every occurrence replaced.",
    [parameter("text", "any"), parameter("lookup", "any"), parameter("rewrite", "any")],
    "string",
    "never",
    overTexts((text, lookup, rewrite) => `replaceAll(${text}, ${lookup}, ${rewrite})`),
  ),
  replace_strings: simple(
    "Every occurrence of one of the texts replaced by the text at its place; the first text of the array goes first.",
    [parameter("text", "any"), constant("lookups", "dynamic"), constant("rewrites", "dynamic")],
    "string",
    "never",
    replaceStrings,
  ),
  translate: simple(
    "Characters replaced by others.",
    [constant("searchList", "string"), constant("replacementList", "string"), parameter("source", "string")],
    "string",
    "never",
    translate,
  ),
} as const satisfies FunctionTable;

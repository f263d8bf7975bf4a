import {
  type CallWriter,
  constant,
  FunctionArgumentError,
  type FunctionTable,
  parameter,
  simple,
} from "./definition.ts";

/** What the operators parse, parse-kv and reduce are made of: parts of a text by patterns that the compiler wrote. */
export const TEXT_PATTERN_OPERATORS = {
  patternMatches: simple(
    "True if the text matches.",
    [parameter("text", "string"), constant("pattern", "string")],
    "bool",
    "never",
    (call) => `match(${call.operand(0)}, ${call.operand(1)})`,
  ),
  patternGroup: simple(
    "The part of a text that a group matches; empty when the text does not match.",
    [parameter("text", "string"), constant("pattern", "string"), constant("group", "long")],
    "string",
    "never",
    (call) =>
      `${call.share(`extractGroups(${call.sharedOperand(0)}, ${call.operand(1)})`)}[${call.operand(2)}]`,
  ),
  patternParts: simple(
    "What the groups match, one behind the other; empty when the text does not match.",
    [parameter("text", "string"), constant("pattern", "string")],
    "string",
    "never",
    (call) => `arrayStringConcat(extractGroups(${call.operand(0)}, ${call.operand(1)}))`,
  ),
  textForm: simple(
    "The text with `*` for every word that has a digit.",
    [parameter("text", "string"), constant("separators", "string")],
    "string",
    "never",
    (call) => {
      const separators = call.operands[1];
      if (separators?.kind !== "literal" || separators.type !== "string")
        throw new FunctionArgumentError(1, "The separators are a constant text.");
      const characters = [...(separators.value ?? "")].map((character) => `\\${character}`).join("");
      const isPlain = /^(?:\\[^0-9A-Za-z\0])*$/.test(characters);
      const between = isPlain ? characters : characters.replace(/\\(?=[0-9A-Za-z])/g, "");
      const word = `[^\\s${between}]*`;
      const before = between === "" ? "" : `[${between}]*`;
      const pattern = call.parameter("String", `${before}${word}[0-9]${word}`);
      return `replaceRegexpAll(${call.operand(0)}, ${pattern}, '*')`;
    },
  ),
  valueByText: simple(
    "What stands behind one of the texts; null for any other.",
    [parameter("text", "string"), constant("texts", "dynamic"), constant("values", "dynamic")],
    "dynamic",
    "never",
    (call) => {
      const [texts, values] = [1, 2].map((place) => call.stringArray(textsOf(call, place)));
      return `transform(${call.operand(0)}, ${texts}, ${values}, '')`;
    },
  ),
} as const satisfies FunctionTable;

function textsOf({ operands }: CallWriter, place: number): string[] {
  const operand = operands[place];
  const listed: unknown =
    operand?.kind === "literal" && operand.type === "dynamic" ? JSON.parse(operand.value ?? "[]") : null;
  if (!Array.isArray(listed)) throw new FunctionArgumentError(place, "The texts are a constant array.");
  return listed.map(String);
}

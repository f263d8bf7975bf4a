import { type MatchRow, undecided, type Value } from "./row.ts";

/** What an attribute holds; null for nothing. */
type Attribute = ReturnType<MatchRow["attribute"]>;

const PLAIN_REAL = /^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?$/;
const PLAIN_INTEGER = /^-?(?:0|[1-9][0-9]{0,8})$/;
const PLAIN_LONG = /^-?(?:0|[1-9][0-9]{0,17})$/;

/**
 * The attribute at a path: that of the whole key, else a part of the entry of a shorter one, which only the store
 * looks into.
 */
export function attributeAt(path: readonly string[]): (row: MatchRow) => Attribute {
  const whole = path.join(".");
  const shorter = path.slice(1).map((_, i) => path.slice(0, i + 1).join("."));
  return (row) => {
    const found = row.attribute(whole);
    if (found !== null) return found;
    return shorter.some((key) => row.attribute(key) !== null) ? undecided() : null;
  };
}

/** The conversions of a dynamic value that are decided here for everyday texts, by the name of the function. */
export const ATTRIBUTE_CONVERSIONS: ReadonlyMap<string, (attribute: Attribute) => Value> = new Map([
  ["toreal", toReal],
  ["todouble", toReal],
  ["tolong", (attribute: Attribute) => toInteger(attribute, PLAIN_LONG)],
  ["toint", (attribute: Attribute) => toInteger(attribute, PLAIN_INTEGER)],
  ["tobool", toBool],
  ["toboolean", toBool],
]);

function toReal(attribute: Attribute): Value {
  if (attribute === null || attribute.text === "") return null;
  const { text, isJson } = attribute;
  if (PLAIN_REAL.test(text)) return Number(text);
  if (isJson && (text === "true" || text === "false")) return text === "true" ? 1 : 0;
  return isNoNumber(text) ? null : undecided();
}

function toInteger(attribute: Attribute, plain: RegExp): Value {
  if (attribute === null || attribute.text === "") return null;
  const { text, isJson } = attribute;
  if (plain.test(text)) return BigInt(text);
  if (isJson && PLAIN_INTEGER.test(text.replace(/\.[0-9]{1,6}$/, "")))
    return BigInt(Math.trunc(Number(text)));
  if (isJson && (text === "true" || text === "false")) return text === "true" ? 1n : 0n;
  return isNoNumber(text) ? null : undecided();
}

function toBool(attribute: Attribute): Value {
  if (attribute === null || attribute.text === "") return null;
  const { text, isJson } = attribute;
  if (text === "true" || text === "false") return text === "true";
  if (isJson && PLAIN_REAL.test(text)) return Number(text) !== 0;
  return isNoNumber(text) && !/true|false/i.test(text) ? null : undecided();
}

/** A text without a digit that is neither infinite nor `nan`: no reading of a number takes it. */
function isNoNumber(text: string): boolean {
  return !/[0-9]|inf|nan/i.test(text);
}

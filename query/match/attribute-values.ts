import { type MatchRow, undecided, type Value } from "./row.ts";

/** What an attribute holds; null for nothing. */
type Attribute = ReturnType<MatchRow["attribute"]>;

const PLAIN_REAL = /^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?$/;
const PLAIN_INTEGER = /^-?(?:0|[1-9][0-9]{0,8})$/;
const PLAIN_LONG = /^-?(?:0|[1-9][0-9]{0,17})$/;

/** The attribute at a path: that of the whole key, else the member of the entry of the longest shorter one that has it. */
export function attributeAt(path: readonly string[]): (row: MatchRow) => Attribute {
  const whole = path.join(".");
  const shorter = path
    .slice(1)
    .map((_, i) => [path.slice(0, i + 1).join("."), path.slice(i + 1)] as const)
    .reverse();
  return (row) => {
    const found = row.attribute(whole);
    if (found !== null) return found;
    for (const [key, inner] of shorter) {
      const outer = row.attribute(key);
      const member = outer === null ? null : memberOf(outer.text, inner);
      if (member !== null) return member;
    }
    return null;
  };
}

/** What can be an object of JSON begins so. */
const OBJECT = /^[ \t\r\n]*\{/;
const ARRAY = /^[ \t\r\n]*\[/;

/**
 * A member of a text that may be an object of JSON. Undecided where the store may read it otherwise: names that may be
 * there twice or are written with escapes, numbers of another form than everyday ones, members inside of arrays.
 */
function memberOf(text: string, path: readonly string[]): Attribute {
  if (ARRAY.test(text)) return undecided();
  if (!OBJECT.test(text)) return null;
  if (text.includes("\\u") || path.some((name) => /["\\/]/.test(name) || isRepeated(text, name)))
    return undecided();
  let value: unknown = parsed(text);
  for (const name of path) {
    if (Array.isArray(value)) return undecided();
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return null;
    value = Object.entries(value).find(([key]) => key === name)?.[1];
  }
  if (typeof value === "number" && !isWrittenSo(text, path.at(-1) ?? "", value)) return undecided();
  return attributeOf(value);
}

/** Whether the digits of a number are those in the text: of a number the store keeps the form. */
function isWrittenSo(text: string, name: string, value: number): boolean {
  const written = new RegExp(`"${RegExp.escape(name)}"\\s*:\\s*${RegExp.escape(String(value))}\\s*[,}]`);
  return PLAIN_INTEGER.test(String(value)) && written.test(text);
}

function isRepeated(text: string, name: string): boolean {
  const quoted = `"${name}"`;
  return text.indexOf(quoted) !== text.lastIndexOf(quoted);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undecided();
  }
}

function attributeOf(value: unknown): Attribute {
  if (typeof value === "string") return { text: value, isJson: false };
  if (value === null) return { text: "", isJson: true };
  return typeof value === "object" ? undecided() : { text: String(value), isJson: true };
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

/** The number that an attribute is compared as: a whole one with all its digits, else a real. */
export function toNumber(attribute: Attribute): Value {
  return attribute !== null && PLAIN_LONG.test(attribute.text) ? BigInt(attribute.text) : toReal(attribute);
}

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

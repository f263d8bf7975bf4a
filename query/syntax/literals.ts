import type { Cursor } from "./cursor.ts";
import { show } from "./cursor.ts";
import { readDatetime } from "./datetime-text.ts";
import { readTimespan } from "./timespan-text.ts";
import type { Token } from "./token.ts";
import type { LiteralExpression, LiteralType } from "./tree.ts";

const INT_MAX = 2_147_483_647n;
const LONG_MAX = 9_223_372_036_854_775_807n;
const GUID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const SPECIAL_REALS: ReadonlyMap<string, number> = new Map([
  ["nan", Number.NaN],
  ["inf", Number.POSITIVE_INFINITY],
  ["+inf", Number.POSITIVE_INFINITY],
  ["-inf", Number.NEGATIVE_INFINITY],
]);

/** Types as literals write them, and what they are called otherwise. */
export const LITERAL_TYPES: Readonly<Record<string, LiteralType>> = {
  bool: "bool",
  boolean: "bool",
  int: "int",
  int32: "int",
  long: "long",
  int64: "long",
  real: "real",
  double: "real",
  decimal: "decimal",
  datetime: "datetime",
  date: "datetime",
  timespan: "timespan",
  time: "timespan",
  guid: "guid",
  uuid: "guid",
  uniqueid: "guid",
};

/** The text between the brackets of a typed literal as a value; undefined for a text that is none of the type. */
const VALUES: Readonly<Record<LiteralType, (body: string) => LiteralExpression["value"] | undefined>> = {
  bool: (body) => ({ true: true, false: false, "1": true, "0": false })[body.toLowerCase()],
  int: (body) => readInteger(body, INT_MAX),
  long: (body) => readInteger(body, LONG_MAX),
  real: (body) => SPECIAL_REALS.get(body.toLowerCase()) ?? (DECIMAL.test(body) ? Number(body) : undefined),
  decimal: (body) => (DECIMAL.test(body) ? body : undefined),
  string: (body) => body,
  datetime: readDatetime,
  timespan: readTimespan,
  guid: (body) => (GUID.test(body) ? body.toLowerCase() : undefined),
};

/** The literal that comes next, strings that follow one another being one; null when none does. */
export function readLiteral(cursor: Cursor): LiteralExpression | null {
  const token = cursor.peek();
  const { kind, span } = token;
  if (kind === "string") return readStrings(cursor);
  if (kind === "name" && TRUTHS.has(token.text))
    return make(cursor, "bool", token.text.toLowerCase() === "true");
  if (kind === "long") {
    const value = readInteger(token.text, LONG_MAX);
    if (value === undefined)
      throw cursor.failure(`The number ${show(token.text)} is too large for a long.`, span);
    return make(cursor, "long", value);
  }
  if (kind === "real") return make(cursor, "real", Number(token.text));
  if (kind === "timespan") {
    const value = readTimespan(token.text);
    if (value === undefined) throw cursor.failure(`The timespan ${show(token.text)} is too long.`, span);
    return make(cursor, "timespan", value);
  }
  return kind === "typed" ? readTyped(cursor, token) : null;
}

const TRUTHS: ReadonlySet<string> = new Set(["true", "false", "True", "False", "TRUE", "FALSE"]);

/** What a literal of the type looks like. */
const EXAMPLES: Readonly<Record<LiteralType, string>> = {
  bool: "write bool(true)",
  int: "write int(5), from -2147483647 to 2147483647",
  long: "write long(5), from -9223372036854775807 to 9223372036854775807",
  real: "write real(1.5)",
  decimal: "write decimal(1.5)",
  string: 'write "text"',
  datetime: "write datetime(2026-01-31) or datetime(2026-01-31T10:00:00Z), year, month and day in this order",
  timespan: "write timespan(1.02:03:04), or 90s, 5m, 2h, 1d",
  guid: "write guid(01234567-89ab-cdef-0123-456789abcdef)",
};

function readTyped(cursor: Cursor, token: Token): LiteralExpression {
  const type = LITERAL_TYPES[token.text];
  if (type === undefined) throw cursor.unexpected("a value");
  const body = unquoted(token.value);
  if (body === "null") return make(cursor, type, null);
  const value = VALUES[type](body);
  if (value !== undefined) return make(cursor, type, value);
  if (/^["']?[\d:.\sTZ+-]+["']?$/.test(token.value))
    throw cursor.failure(`${show(token.value)} is no ${type}: ${EXAMPLES[type]}.`, token.span);
  throw cursor.failure(
    `${show(token.value)} is no ${type}; ${token.text}(...) takes a literal, to${type}(...) converts a value.`,
    token.span,
    `to${type}(${token.value})`,
  );
}

function unquoted(body: string): string {
  const quoted = /^(["'])(.*)\1$/s.exec(body);
  return (quoted?.[2] ?? body).trim();
}

function readStrings(cursor: Cursor): LiteralExpression {
  const start = cursor.index;
  let value = "";
  while (cursor.peek().kind === "string") value += cursor.next().value;
  return cursor.made({ kind: "literal", type: "string", value, span: cursor.spanFrom(start) });
}

function make(cursor: Cursor, type: LiteralType, value: LiteralExpression["value"]): LiteralExpression {
  const { span } = cursor.next();
  return cursor.made({ kind: "literal", type, value, span });
}

function readInteger(text: string, max: bigint): bigint | undefined {
  const match = /^([+-]?)(0x[0-9a-f]{1,16}|\d{1,40})$/i.exec(text);
  if (match === null) return undefined;
  const size = BigInt(match[2] ?? "");
  const value = match[1] === "-" ? -size : size;
  return value > max || value < -max - 1n ? undefined : value;
}

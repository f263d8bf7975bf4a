import { attribute, call, column, type Expression, holdsAny, literal } from "../../../query/index.ts";
import {
  AUTH_MARKS,
  AUTH_OUTCOME,
  FIELD_SOURCES,
  type FieldSource,
  type LogicalFieldName,
} from "./field-table.ts";

/**
 * What an entry says under the logical field of that name, as a text, empty for nothing: an expression over the columns of
 * `logs`. Null for a name that is none. `mayHave` leaves out attributes that no entry has whose outermost key it refuses:
 * where it is known which keys there are, that costs a tenth.
 */
export function logicalField(
  name: string,
  mayHave: (outermostKey: string) => boolean = () => true,
): Expression | null {
  if (name === AUTH_OUTCOME.name) return authOutcome(mayHave);
  const source = FIELD_SOURCES.find((candidate) => candidate.name === name);
  return source === undefined ? null : firstOf(textsOf(source, mayHave));
}

/** Whether there is a logical field of that name. */
export function isLogicalField(name: string): name is LogicalFieldName {
  return name === AUTH_OUTCOME.name || FIELD_SOURCES.some((candidate) => candidate.name === name);
}

function textsOf(
  { column: first, aliases, patterns }: FieldSource,
  mayHave: (outermostKey: string) => boolean,
): Expression[] {
  return [
    ...(first === null ? [] : [column(first, "string")]),
    ...aliases.filter((alias) => keysOf(alias).some(mayHave)).map(attributeText),
    ...(patterns.length === 0 ? [] : [ofMarked(firstOf(patterns.map(messageGroup)), NOTHING)]),
  ];
}

const NOTHING = literal("string", "");

/** What is found by patterns in messages that may hold it, and something else in all others. */
function ofMarked(found: Expression, other: Expression): Expression {
  return call("iff", holdsAny(column("message", "string"), AUTH_MARKS), found, other);
}

/** The keys that an attribute may stand under: `a.b.c`, `a.b` and `a`, of which the outer ones hold an object. */
function keysOf(alias: string): string[] {
  const parts = alias.split(".");
  return parts.map((_, i) => parts.slice(0, i + 1).join("."));
}

/** An object or a list is no name and no address. */
function attributeText(alias: string): Expression {
  const text = call("tostring", attribute("attrs", ...alias.split(".")));
  return call("iff", call("matchesRegex", text, literal("string", "^[{\\[]")), literal("string", ""), text);
}

function messageGroup(pattern: string): Expression {
  return call("extract", literal("string", pattern), literal("long", 1n), column("message", "string"));
}

function firstOf(texts: readonly Expression[]): Expression {
  const [first, second, ...others] = texts;
  if (first === undefined) return literal("string", "");
  return second === undefined ? first : call("coalesce", first, second, ...others);
}

function authOutcome(mayHave: (outermostKey: string) => boolean): Expression {
  const message = column("message", "string");
  const matches = (pattern: string) => call("matchesRegex", message, literal("string", pattern));
  const said = call("tolower", firstOf(textsOf({ ...AUTH_OUTCOME, column: null, patterns: [] }, mayHave)));
  const isSaid = (outcome: string) => call("equal", said, literal("string", outcome));
  const success = literal("string", "success");
  const failure = literal("string", "failure");
  // A failure that the message tells goes before a success that an attribute says.
  const told = call(
    "iff",
    matches(AUTH_OUTCOME.failure),
    failure,
    call("iff", call("or", isSaid("success"), matches(AUTH_OUTCOME.success)), success, NOTHING),
  );
  const only = call("iff", isSaid("success"), success, NOTHING);
  return call("iff", isSaid("failure"), failure, ofMarked(told, only));
}

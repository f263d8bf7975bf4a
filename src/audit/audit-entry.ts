import { canonicalJson, type JsonObject, type JsonValue } from "./canonical-json.ts";

/** Who did it, as it is remembered after they are gone. */
export interface AuditActor {
  readonly userId: number | null;
  /** Null for a session. */
  readonly tokenId: number | null;
  readonly email: string;
}

/** Where it came from. */
export interface AuditOrigin {
  readonly ip: string;
  readonly userAgent: string | null;
  /** The door of the server through which it came, where that is not its API itself; for example `mcp`. */
  readonly via?: string;
}

/** One change as its maker describes it. */
export interface AuditEntry {
  /** What was changed, for example `saved-search:17`. */
  readonly resource: string;
  /** The fields as they were; absent when the thing is new. */
  readonly before?: object | null;
  /** The fields as they are; absent when the thing is gone. */
  readonly after?: object | null;
  /** Fields of which only the fact of a change is written down. */
  readonly sensitive?: readonly string[];
  /** Further facts, none of them secret. */
  readonly facts?: JsonObject;
}

/** What is stored and hashed of one change, besides its place in the chain. */
export interface AuditRecord {
  readonly createdAtMs: number;
  readonly actor: AuditActor;
  readonly action: string;
  readonly resource: string;
  readonly meta: JsonObject;
}

/** Characters of a text in a diff; what is longer is cut, for a log is not a backup. */
const MAX_TEXT_CHARS = 1_024;
/** Characters of an array or object in a diff, written as JSON; what is longer is left out. */
const MAX_NESTED_CHARS = 4_096;
/** Characters of a User-Agent header that are kept. */
const MAX_USER_AGENT_CHARS = 512;
/** They change with every write and say nothing about it. */
const IGNORED_FIELDS = new Set(["updatedAt"]);

/** Turns a described change into what is stored of it. */
export function auditRecord(
  action: string,
  entry: AuditEntry,
  by: { actor: AuditActor; origin: AuditOrigin; atMs: number },
): AuditRecord {
  const before = fieldsOf(entry.before);
  const after = fieldsOf(entry.after);
  const sensitive = new Set(entry.sensitive);
  const changedFields = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => !IGNORED_FIELDS.has(name) && !areEqual(before.get(name), after.get(name)),
  );
  const isGone = entry.after === null || entry.after === undefined;
  const diff = changedFields.map((name): [string, JsonValue] => [
    name,
    sensitive.has(name)
      ? { redacted: true }
      : { from: bounded(before.get(name) ?? null), to: bounded(after.get(name) ?? null) },
  ]);
  const snapshot = [...before].map(([name, value]): [string, JsonValue] => [
    name,
    sensitive.has(name) ? { redacted: true } : bounded(value),
  ]);
  const { actor, origin, atMs } = by;
  return {
    createdAtMs: atMs,
    actor: { ...actor, email: storable(actor.email) },
    action,
    resource: storable(entry.resource),
    meta: {
      ...storableObject(entry.facts ?? {}),
      changedFields: isGone ? [] : changedFields,
      diff: isGone ? {} : Object.fromEntries(diff),
      ...(isGone && before.size > 0 && { snapshot: Object.fromEntries(snapshot) }),
      ip: storable(origin.ip),
      ua: origin.userAgent === null ? null : storable(origin.userAgent.slice(0, MAX_USER_AGENT_CHARS)),
      ...(origin.via !== undefined && { via: origin.via }),
    },
  };
}

/** The fields as JSON values; those without a value are absent. */
function fieldsOf(fields: object | null | undefined): Map<string, JsonValue> {
  const values = new Map<string, JsonValue>();
  for (const [name, value] of Object.entries(fields ?? {})) {
    const text: string | undefined = JSON.stringify(value);
    if (text !== undefined) values.set(storable(name), JSON.parse(text));
  }
  return values;
}

/** Whatever the order of the names in an object, for stores have one of their own. */
function areEqual(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return canonicalJson(left) === canonicalJson(right);
}

function bounded(value: JsonValue): JsonValue {
  if (typeof value === "string") return storable(cut(value));
  if (value === null || typeof value !== "object") return value;
  const text = JSON.stringify(value);
  if (text.length > MAX_NESTED_CHARS) return { omitted: true, chars: text.length };
  return storableValue(value);
}

function storableValue(value: JsonValue): JsonValue {
  if (typeof value === "string") return storable(value);
  if (value === null || typeof value !== "object") return value;
  return isList(value) ? value.map(storableValue) : storableObject(value);
}

function storableObject(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [storable(name), storableValue(member)]),
  );
}

function isList(value: JsonObject | readonly JsonValue[]): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function cut(text: string): string {
  return text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS)}…`;
}

/** Postgres' JSON takes neither half a surrogate pair nor a null character. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\u{fffd}");
}

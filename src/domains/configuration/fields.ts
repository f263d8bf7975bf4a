import { createHmac } from "node:crypto";
import { canonicalJson, type JsonObject, type JsonValue } from "../../audit/canonical-json.ts";
import { type ConfigKind, PEOPLE } from "../../configuration/config-kind.ts";
import { isJsonList, isJsonObject } from "../../configuration/json.ts";
import { pointerTo } from "../../http/json-pointer.ts";

/** Says for ids what files call the record or the person; null where they have no name for it. */
interface Names {
  readonly keyOf: (kind: string, id: string) => string | null;
  readonly emailOf: (userId: number) => string | null;
}

/** Puts a value in place of each at some places of a record; `at` is its pointer. */
function mapPlaces(
  value: JsonValue,
  place: readonly string[],
  map: (found: JsonValue, at: string) => JsonValue,
  at = "",
): JsonValue {
  const [name, ...rest] = place;
  if (name === undefined) return value === null ? null : map(value, at);
  if (name === "*")
    return isJsonList(value)
      ? value.map((item, index) => mapPlaces(item, rest, map, `${at}/${index}`))
      : value;
  const member = isJsonObject(value) ? value[name] : undefined;
  if (!isJsonObject(value) || member === undefined) return value;
  return { ...value, [name]: mapPlaces(member, rest, map, `${at}${pointerTo(name)}`) };
}

/** Puts a value in place of each reference of a record; `to` is the kind that it names. */
export function mapReferences(
  { references }: ConfigKind,
  fields: JsonObject,
  map: (found: JsonValue, to: string, at: string) => JsonValue,
): JsonObject {
  let mapped: JsonValue = fields;
  for (const { at: place, to } of references)
    mapped = mapPlaces(mapped, place, (found, at) => map(found, to, at));
  return isJsonObject(mapped) ? mapped : fields;
}

/** What a file says in place of an id: `{ ref: kind/key }`; null for anything else. */
export function referenceOf(value: JsonValue): string | null {
  if (!isJsonObject(value) || Object.keys(value).length !== 1) return null;
  return typeof value.ref === "string" ? value.ref : null;
}

/** A record with names in place of ids, as files have them; an id that has no name stays. */
export function withNames(kind: ConfigKind, fields: JsonObject, { keyOf, emailOf }: Names): JsonObject {
  return mapReferences(kind, fields, (found, to) => {
    if (typeof found !== "number") return found;
    if (to === PEOPLE) return emailOf(found) ?? found;
    const key = keyOf(to, String(found));
    return key === null ? found : { ref: `${to}/${key}` };
  });
}

/** Tells secrets apart without telling anything about them. */
export class Fingerprints {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** The record with the fingerprint of each secret in its place. */
  sealed(
    { kind, secrets }: Pick<ConfigKind, "kind" | "secrets">,
    organizationId: number,
    fields: JsonObject,
  ): JsonObject {
    const hidden = secrets.flatMap((name): [string, JsonValue][] => {
      const value = fields[name];
      if (value === undefined || value === null) return [];
      const text = `${organizationId}\n${kind}\n${name}\n${canonicalJson(value)}`;
      return [[name, { secret: createHmac("sha256", this.#key).update(text).digest("hex") }]];
    });
    return { ...fields, ...Object.fromEntries(hidden) };
  }
}

export function areSame(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  return canonicalJson(left ?? null) === canonicalJson(right ?? null);
}

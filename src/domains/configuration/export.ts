import type { JsonObject, JsonValue } from "../../audit/canonical-json.ts";
import type { ConfigKind } from "../../configuration/config-kind.ts";
import { areSame, withNames } from "./fields.ts";
import { bindingsOf, listLive, type Reading, readPeople } from "./present.ts";

/** What files would say: by kind and key. */
type Resources = Record<string, Record<string, JsonObject>>;

const KEPT = { secret: "kept" };
/** Room for a number behind it where several have one name. */
const MADE_KEY_MAX_CHARS = 100;

/** Describes the records of some kinds as files do. What no key stands for gets one of its name. */
export async function exportRecords(
  reading: Reading,
  all: ReadonlyMap<string, ConfigKind>,
  kinds: readonly ConfigKind[],
): Promise<Resources> {
  const bindings = await bindingsOf(reading, all);
  const { emailOf } = await readPeople(reading);
  const keys = new Map(bindings.map(({ kind, recordId, key }) => [`${kind}/${recordId}`, key]));
  const found = new Map<ConfigKind, Awaited<ReturnType<typeof listLive>>>();
  for (const kind of kinds) {
    const records = await listLive(reading, kind);
    found.set(kind, records);
    const taken = new Set(bindings.filter((binding) => binding.kind === kind.kind).map(({ key }) => key));
    for (const { id, fields } of records) {
      const address = `${kind.kind}/${id}`;
      if (!keys.has(address)) keys.set(address, freeKey(kind, fields, taken));
    }
  }
  const names = { emailOf, keyOf: (kind: string, id: string) => keys.get(`${kind}/${id}`) ?? null };
  const resources: Resources = {};
  for (const [kind, records] of found) {
    if (records.length === 0) continue;
    const defaults = kind.complete({}, reading.nowMs);
    const described = records.map(({ id, fields }): [string, JsonObject] => [
      names.keyOf(kind.kind, id) ?? id,
      saidOf(kind, withNames(kind, fields, names), defaults),
    ]);
    resources[kind.kind] = Object.fromEntries(described.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
  return resources;
}

/** What has to be said of a record: what is not as by default. */
function saidOf({ secrets }: ConfigKind, fields: JsonObject, defaults: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]): [string, JsonValue][] => {
      if (value === null || areSame(value, defaults[name])) return [];
      return [[name, secrets.includes(name) ? KEPT : value]];
    }),
  );
}

/** A key of the name of a record that no other has. */
function freeKey({ naming }: ConfigKind, fields: JsonObject, taken: Set<string>): string {
  const name = naming.map((field) => fields[field] ?? "").join("-");
  const plain = name.normalize("NFKD").toLowerCase();
  const key = plain
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, MADE_KEY_MAX_CHARS);
  const made = key.replace(/-$/, "") || "unnamed";
  let free = made;
  for (let n = 2; taken.has(free); n++) free = `${made}-${n}`;
  taken.add(free);
  return free;
}

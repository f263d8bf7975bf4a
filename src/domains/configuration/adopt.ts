import { canonicalJson, type JsonObject } from "../../audit/canonical-json.ts";
import type { ConfigKind } from "../../configuration/config-kind.ts";
import type { FieldIssue } from "../../errors.ts";
import type { DesiredRecord } from "./desired.ts";
import { areSame } from "./fields.ts";
import { addressOf } from "./order.ts";

interface Adopting {
  /** By the addresses of those that take over a record. */
  readonly ids: ReadonlyMap<string, string>;
  readonly issues: readonly FieldIssue[];
}

/**
 * Finds for records that files describe for the first time those that are there under the same name and that no file
 * describes. Without `mayAdopt` each is an issue: taking over what somebody made by hand has to be asked for.
 */
export function adoptRecords(
  records: readonly DesiredRecord[],
  live: ReadonlyMap<ConfigKind, ReadonlyMap<string, JsonObject>>,
  bound: ReadonlySet<string>,
  mayAdopt: boolean,
): Adopting {
  const ids = new Map<string, string>();
  const issues: FieldIssue[] = [];
  const free = new Map<string, [id: string, fields: JsonObject][]>();
  for (const [kind, found] of live)
    for (const [id, fields] of found) {
      if (bound.has(`${kind.kind}/${id}`)) continue;
      const name = nameOf(kind, fields);
      const others = free.get(name);
      if (others === undefined) free.set(name, [[id, fields]]);
      else others.push([id, fields]);
    }
  const wrong = (at: string, message: string): unknown => issues.push({ path: at, code: "custom", message });
  for (const record of records) {
    const candidates = free.get(nameOf(record.kind, record.fields)) ?? [];
    if (candidates.length === 0) continue;
    if (!mayAdopt) {
      wrong(record.at, "has the name of a record that no file describes: adopt it, or choose another name");
      continue;
    }
    const same = candidates.find(([, fields]) => isAlike(record, fields));
    const chosen = same ?? (candidates.length === 1 ? candidates[0] : undefined);
    if (chosen === undefined) {
      wrong(record.at, `has the name of ${candidates.length} records that no file describes`);
      continue;
    }
    candidates.splice(candidates.indexOf(chosen), 1);
    ids.set(addressOf(record), chosen[0]);
  }
  return { ids, issues };
}

function nameOf({ kind, naming }: ConfigKind, fields: JsonObject): string {
  return `${kind}\n${canonicalJson(naming.map((name) => fields[name] ?? null))}`;
}

/** Whether a record is as files want it, as far as names of others do not matter. */
function isAlike({ kind, fields, kept }: DesiredRecord, live: JsonObject): boolean {
  const referring = new Set(kind.references.map(({ at }) => at[0]));
  return Object.keys(fields).every(
    (name) => referring.has(name) || kept.has(name) || areSame(fields[name], live[name]),
  );
}

import type { ConfigKind } from "../../configuration/config-kind.ts";
import { areSame, withNames } from "./fields.ts";
import type { FieldChange } from "./plan.ts";
import { bindingsOf, type Reading, readPeople, readPresent } from "./present.ts";

interface Drifted {
  readonly kind: string;
  readonly key: string;
  readonly change: "changed" | "deleted";
  readonly fields: readonly FieldChange[];
}

interface Drift {
  readonly drift: readonly Drifted[];
  /** Records that keys stand for and that were compared. */
  readonly checked: number;
}

/** What was changed since files were last applied, by other means. */
export async function findDrift(
  reading: Reading,
  all: ReadonlyMap<string, ConfigKind>,
  kinds: readonly ConfigKind[],
): Promise<Drift> {
  const bindings = await bindingsOf(reading, all);
  const bound = new Set(bindings.map(({ kind }) => kind));
  const compared = kinds.filter(({ kind }) => bound.has(kind));
  const { live, emailOf } = await readPresent(reading, bindings, compared, await readPeople(reading));
  const keys = new Map(bindings.map(({ kind, recordId, key }) => [`${kind}/${recordId}`, key]));
  const names = { emailOf, keyOf: (kind: string, id: string) => keys.get(`${kind}/${id}`) ?? null };
  const drift: Drifted[] = [];
  let checked = 0;
  for (const kind of compared)
    for (const binding of bindings) {
      if (binding.kind !== kind.kind) continue;
      checked++;
      const { key, base } = binding;
      const record = live.get(kind)?.get(binding.recordId);
      if (record === undefined) {
        drift.push({ kind: kind.kind, key, change: "deleted", fields: [] });
        continue;
      }
      const [before, after] = [withNames(kind, base, names), withNames(kind, record, names)];
      const fields = Object.keys(after)
        .filter((name) => !areSame(before[name], after[name]))
        .map((field): FieldChange => {
          const isSecret = kind.secrets.includes(field);
          const values = { before: before[field] ?? null, after: after[field] ?? null };
          return { field, isSecret, isDrifted: true, ...(!isSecret && values) };
        });
      if (fields.length > 0) drift.push({ kind: kind.kind, key, change: "changed", fields });
    }
  return { drift, checked };
}

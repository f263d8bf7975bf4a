import { createHash } from "node:crypto";
import { canonicalJson, type JsonObject, type JsonValue } from "../../audit/canonical-json.ts";
import type { ConfigKind } from "../../configuration/config-kind.ts";
import type { FieldIssue } from "../../errors.ts";
import { adoptRecords } from "./adopt.ts";
import type { Binding } from "./bindings.ts";
import type { DesiredRecord } from "./desired.ts";
import { areSame, mapReferences, referenceOf, withNames } from "./fields.ts";
import { bindingAfterMove } from "./moves.ts";
import { addressOf } from "./order.ts";

/** What becomes of a record. `drift`: the files say what they said, and somebody has changed the record by other means. */
type Action = "create" | "update" | "drift" | "replace" | "delete" | "orphan" | "unchanged";

/** What of a record changes; the values of secrets are left out. */
export interface FieldChange {
  readonly field: string;
  readonly before?: JsonValue;
  readonly after?: JsonValue;
  readonly isSecret: boolean;
  /** It is not as it was applied. */
  readonly isDrifted: boolean;
}

export interface Step {
  readonly kind: ConfigKind;
  readonly key: string;
  readonly action: Action;
  /** Of the record that there is. */
  readonly id: string | null;
  /** It was there, and no file described it. */
  readonly isAdopted: boolean;
  readonly movedFrom: string | null;
  readonly fields: readonly FieldChange[];
  readonly desired: DesiredRecord | null;
  /** What the record is, with names, and fingerprints in place of secrets. */
  readonly live: JsonObject | null;
}

/** How the organisation is, as far as files may describe it. */
export interface Present {
  /** Of every kind. */
  readonly bindings: readonly Binding[];
  /** The records of the kinds that are compared, by id; their secrets are fingerprints. */
  readonly live: ReadonlyMap<ConfigKind, ReadonlyMap<string, JsonObject>>;
  readonly emailOf: (userId: number) => string | null;
}

export interface PlanOptions {
  readonly adopt: boolean;
  readonly prune: boolean;
}

export interface Plan {
  readonly steps: readonly Step[];
  readonly issues: readonly FieldIssue[];
}

/**
 * Compares what was applied last, what is, and what files want. `wanted` are the records with fingerprints in place of
 * secrets, each behind those that it refers to.
 */
export function makePlan(wanted: readonly DesiredRecord[], present: Present, options: PlanOptions): Plan {
  const issues: FieldIssue[] = [];
  const taken = new Map<
    string,
    { readonly binding: Binding | null; readonly id: string | null; readonly isAdopted: boolean }
  >();
  const used = new Set<Binding>();
  const byAddress = new Map(present.bindings.map((binding) => [`${binding.kind}/${binding.key}`, binding]));
  const keys = new Set(wanted.map(addressOf));
  for (const record of wanted) {
    const { binding, issue } = bindingAfterMove(record, byAddress, keys);
    if (issue !== null) issues.push(issue);
    if (binding !== null) used.add(binding);
    const id =
      binding !== null && present.live.get(record.kind)?.has(binding.recordId) ? binding.recordId : null;
    taken.set(addressOf(record), { binding, id, isAdopted: false });
  }
  const unbound = wanted.filter((record) => taken.get(addressOf(record))?.id === null);
  const bound = new Set(present.bindings.map(({ kind, recordId }) => `${kind}/${recordId}`));
  const adopted = adoptRecords(unbound, present.live, bound, options.adopt);
  issues.push(...adopted.issues);
  for (const [address, id] of adopted.ids)
    taken.set(address, { binding: taken.get(address)?.binding ?? null, id, isAdopted: true });

  const names = namesOf(present, used, wanted, taken);
  issues.push(...wanted.flatMap((record) => danglingIssues(record, keys, byAddress)));
  const steps = wanted.map((record): Step => {
    const { binding = null, id = null, isAdopted = false } = taken.get(addressOf(record)) ?? {};
    const live = id === null ? null : (present.live.get(record.kind)?.get(id) ?? null);
    const step = compare(record, binding, live, names);
    if (live === null) issues.push(...keptOfNothing(record));
    const movedFrom = binding !== null && binding.key !== record.key ? binding.key : null;
    return { ...step, kind: record.kind, key: record.key, id, isAdopted, movedFrom, desired: record };
  });
  return { steps: [...steps, ...orphans(present, used, names, options.prune)], issues };
}

/** What is compared: with names, complete by what this server knows of the kind. */
function compare(
  { kind, fields, kept }: DesiredRecord,
  binding: Binding | null,
  live: JsonObject | null,
  names: Parameters<typeof withNames>[2],
): Pick<Step, "action" | "fields" | "live"> {
  if (live === null) return { action: "create", fields: [], live };
  const shown = withNames(kind, live, names);
  const base = binding === null ? null : withNames(kind, binding.base, names);
  const after = withNames(kind, fields, names);
  const changed = Object.keys(after).filter((name) => !kept.has(name) && !areSame(after[name], shown[name]));
  const isDriftOnly = base !== null && changed.every((name) => areSame(base[name], after[name]));
  const changes = changed.map((field): FieldChange => {
    const isSecret = kind.secrets.includes(field);
    const isDrifted = base !== null && !areSame(base[field], shown[field]);
    return {
      ...{ field, isSecret, isDrifted },
      ...(!isSecret && { before: shown[field] ?? null, after: after[field] ?? null }),
    };
  });
  return { action: actionOf(kind, changed, isDriftOnly), fields: changes, live: shown };
}

function actionOf(kind: ConfigKind, changed: readonly string[], isDriftOnly: boolean): Action {
  if (changed.length === 0) return "unchanged";
  if (changed.some((name) => kind.immutable.includes(name))) return "replace";
  return isDriftOnly ? "drift" : "update";
}

/** What is bound and no file describes any more, in the order of kinds. */
function orphans(
  { bindings, live }: Present,
  used: ReadonlySet<Binding>,
  names: Parameters<typeof withNames>[2],
  prune: boolean,
): Step[] {
  const kinds = new Map([...live.keys()].map((kind) => [kind.kind, kind]));
  const places = new Map([...live.keys()].map((kind, place) => [kind, place]));
  const found = bindings.flatMap((binding): Step[] => {
    const kind = kinds.get(binding.kind);
    const record = kind === undefined ? undefined : live.get(kind)?.get(binding.recordId);
    if (used.has(binding) || kind === undefined || record === undefined) return [];
    return [
      {
        ...{ kind, key: binding.key, id: binding.recordId, isAdopted: false, movedFrom: null, fields: [] },
        action: prune ? "delete" : "orphan",
        ...{ desired: null, live: withNames(kind, record, names) },
      },
    ];
  });
  return found.toSorted((left, right) => (places.get(left.kind) ?? 0) - (places.get(right.kind) ?? 0));
}

/** By which names records go once the plan is made true. */
function namesOf(
  { bindings, emailOf }: Present,
  used: ReadonlySet<Binding>,
  wanted: readonly DesiredRecord[],
  taken: ReadonlyMap<string, { readonly id: string | null }>,
) {
  const keys = new Map<string, string>();
  for (const binding of bindings)
    if (!used.has(binding)) keys.set(`${binding.kind}/${binding.recordId}`, binding.key);
  for (const record of wanted) {
    const id = taken.get(addressOf(record))?.id ?? null;
    if (id !== null) keys.set(`${record.kind.kind}/${id}`, record.key);
  }
  return { emailOf, keyOf: (kind: string, id: string) => keys.get(`${kind}/${id}`) ?? null };
}

/** References to what neither files describe nor a key stands for. */
function danglingIssues(
  { kind, fields, at }: DesiredRecord,
  keys: ReadonlySet<string>,
  bindings: ReadonlyMap<string, Binding>,
): FieldIssue[] {
  const issues: FieldIssue[] = [];
  mapReferences(kind, fields, (found, _to, place) => {
    const reference = referenceOf(found);
    if (reference !== null && !keys.has(reference) && !bindings.has(reference))
      issues.push({
        path: `${at}${place}`,
        code: "custom",
        message: `names ${reference}, which is not there`,
      });
    return found;
  });
  return issues;
}

function keptOfNothing({ kept, at }: DesiredRecord): FieldIssue[] {
  return [...kept].map((field) => ({
    path: `${at}/${field}`,
    code: "custom",
    message: "cannot be kept, for the record is not there yet: say where it is, as in { secret: env:NAME }",
  }));
}

/** What a plan does, to what, and how that was: two plans with one id are the same. */
export function planIdOf(steps: readonly Step[]): string {
  const hash = createHash("sha256");
  const lines = steps.map(({ kind, key, action, id, isAdopted, movedFrom, desired, live }) => {
    const kept = [...(desired?.kept ?? [])].toSorted();
    const wanted = desired?.fields ?? null;
    return canonicalJson([kind.kind, key, action, id, isAdopted, movedFrom, kept, wanted, live]);
  });
  for (const line of lines.toSorted()) hash.update(`${line}\n`);
  return hash.digest("hex");
}

/** Whether a step does anything to records or to what their keys stand for. */
export function isChange({ action, isAdopted, movedFrom }: Step): boolean {
  return (action !== "unchanged" && action !== "orphan") || isAdopted || movedFrom !== null;
}

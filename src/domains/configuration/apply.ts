import type { JsonObject } from "../../audit/canonical-json.ts";
import type { Change } from "../../changes/change.ts";
import { type ConfigKind, PEOPLE } from "../../configuration/config-kind.ts";
import { ApiError } from "../../errors.ts";
import { pointerTo } from "../../http/json-pointer.ts";
import { type Binding, writeBindings } from "./bindings.ts";
import { mapReferences, referenceOf } from "./fields.ts";
import { addressOf } from "./order.ts";
import type { Step } from "./plan.ts";
import type { Planned } from "./planning.ts";
import { listLive, type Reading, sealedById } from "./present.ts";

type Verb = "CREATE" | "UPDATE" | "DELETE";

/**
 * Makes a plan true by the verbs of each kind, in the transaction of the change, and notes what keys stand for from now on.
 * Throws what the verbs throw, with the places of the files.
 */
export async function applyPlan(
  change: Change,
  planned: Planned,
  reading: Reading,
  applyId: string,
): Promise<void> {
  const work = new Applying(change, planned, applyId);
  const removed = planned.steps.filter(({ action }) => action === "delete");
  for (const step of planned.steps) if (step.action !== "delete") await located(step, () => work.take(step));
  // What refers to a record goes before it: kinds stand in the order of their needs.
  for (const step of removed.toReversed()) await located(step, () => work.take(step));
  await noteBindings(change, planned, reading, work.ids);
}

/** What is done to records, one after the other. */
class Applying {
  /** By address. */
  readonly ids = new Map<string, string>();
  readonly #change: Change;
  readonly #planned: Planned;
  readonly #applyId: string;

  constructor(change: Change, planned: Planned, applyId: string) {
    this.#change = change;
    this.#planned = planned;
    this.#applyId = applyId;
    for (const { kind, key, recordId } of planned.bindings) this.ids.set(`${kind}/${key}`, recordId);
    for (const { kind, key, id } of planned.steps) if (id !== null) this.ids.set(`${kind.kind}/${key}`, id);
  }

  async take(step: Step): Promise<void> {
    const { kind, action, id } = step;
    switch (action) {
      case "create":
        return this.#create(step, this.#fieldsOf(step));
      case "replace": {
        const fields = this.#fieldsOf(step);
        if (id !== null) await kind.remove(this.#as("DELETE", kind), id);
        return this.#create(step, fields);
      }
      case "update":
      case "drift": {
        const fields = this.#fieldsOf(step);
        const patch = Object.fromEntries(step.fields.map(({ field }) => [field, fields[field] ?? null]));
        if (id !== null) await kind.update(this.#as("UPDATE", kind), id, patch);
        return;
      }
      case "delete":
        if (id !== null) await kind.remove(this.#as("DELETE", kind), id);
        return;
      default:
    }
  }

  async #create({ kind, key }: Step, fields: JsonObject): Promise<void> {
    this.ids.set(`${kind.kind}/${key}`, await kind.create(this.#as("CREATE", kind), fields));
  }

  /** What files want of a record with the ids of what it names, and with the secrets that it keeps. */
  #fieldsOf({ kind, key, id }: Step): JsonObject {
    const record = this.#planned.clear.get(`${kind.kind}/${key}`);
    if (record === undefined) throw new Error("a step has lost its record");
    const live = id === null ? {} : this.#planned.liveClear.get(`${kind.kind}/${id}`);
    const kept = Object.fromEntries([...record.kept].map((name) => [name, live?.[name] ?? null]));
    return mapReferences(kind, { ...record.fields, ...kept }, (found, to) => {
      if (to === PEOPLE) return typeof found === "string" ? this.#personOf(found) : found;
      const reference = referenceOf(found);
      if (reference === null) return found;
      return Number(this.ids.get(reference) ?? 0);
    });
  }

  #personOf(email: string): number {
    return this.#planned.emails.get(email.toLowerCase()) ?? 0;
  }

  /** The change as one of this kind of record, of which the audit log says that it came from files. */
  #as(verb: Verb, kind: ConfigKind): Change {
    const { tx, organizationId, actor, nowMs, emit, afterCommit, record } = this.#change;
    return {
      ...{ tx, organizationId, actor, nowMs, emit, afterCommit },
      record: (entry, action = `${verb}_${kind.audit}`) =>
        record({ ...entry, facts: { ...entry.facts, applyId: this.#applyId } }, action),
    };
  }
}

/** What keys stand for now, and how those records are. */
async function noteBindings(
  { tx, organizationId, nowMs }: Change,
  { steps, bindings, compared, liveClear }: Planned,
  reading: Reading,
  ids: ReadonlyMap<string, string>,
): Promise<void> {
  const bound: Binding[] = [];
  for (const kind of compared) {
    const wanted = steps.filter(({ desired, kind: own }) => desired !== null && own === kind);
    if (wanted.length === 0) continue;
    const live = sealedById(reading, kind, await listLive(reading, kind));
    for (const { key } of wanted) {
      const recordId = ids.get(`${kind.kind}/${key}`) ?? "";
      const base = live.get(recordId);
      if (base === undefined) throw new Error("what was applied is not there");
      bound.push({ kind: kind.kind, key, recordId, base });
    }
  }
  const left = new Set(
    steps.flatMap(({ kind, key, action, movedFrom }) => [
      ...(movedFrom === null ? [] : [`${kind.kind}/${movedFrom}`]),
      ...(action === "delete" ? [`${kind.kind}/${key}`] : []),
    ]),
  );
  const known = new Set(compared.map(({ kind }) => kind));
  const gone = bindings.filter(
    ({ kind, key, recordId }) =>
      left.has(`${kind}/${key}`) || (known.has(kind) && !liveClear.has(`${kind}/${recordId}`)),
  );
  await writeBindings(tx, organizationId, { gone, bound }, nowMs);
}

/** Says with a refusal of a verb of which record it was, and where that stands. */
async function located(step: Step, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { kind, key } = step;
    const at = `/resources${pointerTo(kind.kind)}${pointerTo(key)}`;
    const fields = error.fields?.map((issue) => ({
      ...issue,
      path: `${at}${issue.path === "/" ? "" : issue.path}`,
    }));
    throw new ApiError(error.code, `${addressOf(step)}: ${error.message}`, {
      fields: fields ?? [{ path: at, code: "custom", message: error.message }],
      cause: error,
    });
  }
}

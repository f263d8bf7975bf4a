import type { TransactionSql } from "postgres";
import type { JsonObject } from "../../audit/canonical-json.ts";
import type { Change } from "../../changes/change.ts";
import { EVENTS_MAX_OF_CHANGE } from "../../changes/limits.ts";
import { type ConfigKind, PEOPLE } from "../../configuration/config-kind.ts";
import { ApiError, MAX_FIELD_ISSUES, validationFailed } from "../../errors.ts";
import { pointerTo } from "../../http/json-pointer.ts";
import { batchesOf, inTurn } from "./batches.ts";
import { type Binding, writeBindings } from "./bindings.ts";
import { mapReferences, referenceOf } from "./fields.ts";
import { addressOf } from "./order.ts";
import { isChange, type Step } from "./plan.ts";
import type { Planned } from "./planning.ts";
import { listLive, type Reading, sealedById } from "./present.ts";

const TOO_MANY_EVENTS = "would end more problems than one change may; apply the files in parts.";

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
  for (const steps of batchesOf(inTurn(planned.steps))) {
    const [refusal] = await work.take(steps, 1);
    if (refusal !== undefined) throw refusal;
  }
  await noteBindings(change, planned, reading, work.ids);
}

/**
 * Tries what `applyPlan` would do, in a transaction that is undone, and answers what each record would be refused with. What
 * needs a record that is refused is not tried.
 */
export async function tryPlan(change: Change, planned: Planned): Promise<ApiError[]> {
  const work = new Applying(change, planned, "");
  const refusals: ApiError[] = [];
  for (const steps of batchesOf(inTurn(planned.steps.filter(isChange)))) {
    const able = steps.filter((step) => !work.lacks(step));
    if (able.length === 0) continue;
    const found = await work.take(able, MAX_FIELD_ISSUES - refusals.length);
    refusals.push(...found);
    if (refusals.length === MAX_FIELD_ISSUES || (found.length > 0 && !(await canGoOn(change.tx)))) break;
  }
  return refusals;
}

/** False where a statement has failed, such as one that meets a name that is taken. A savepoint for each record would cost more. */
function canGoOn(tx: TransactionSql): Promise<boolean> {
  return tx`SELECT 1`.then(
    () => true,
    () => false,
  );
}

/** What is done to records, one after the other. */
class Applying {
  /** By address. */
  readonly ids = new Map<string, string>();
  readonly #change: Change;
  readonly #planned: Planned;
  readonly #applyId: string;
  readonly #lost = new Set<string>();
  /** Addresses by the records, of kinds and ids, that they stand for. */
  readonly #owners = new Map<string, string>();
  #events = 0;

  constructor(change: Change, planned: Planned, applyId: string) {
    this.#change = change;
    this.#planned = planned;
    this.#applyId = applyId;
    for (const { kind, key, recordId } of planned.bindings) this.ids.set(`${kind}/${key}`, recordId);
    for (const step of planned.steps) {
      if (step.id === null) continue;
      this.ids.set(addressOf(step), step.id);
      this.#owners.set(`${step.kind.kind}/${step.id}`, addressOf(step));
    }
  }

  /** Whether something that the record refers to could not be made. */
  lacks({ kind, desired }: Step): boolean {
    let isLacking = false;
    if (desired !== null)
      mapReferences(kind, desired.fields, (found) => {
        const reference = referenceOf(found);
        if (reference !== null && this.#lost.has(reference)) isLacking = true;
        return found;
      });
    if (isLacking && desired !== null) this.#lost.add(addressOf(desired));
    return isLacking;
  }

  /** Takes steps at once; answers what they are refused with, at most `max`, after which no other step is taken. */
  async take(steps: readonly Step[], max: number): Promise<ApiError[]> {
    const [only] = steps;
    if (only === undefined) return [];
    if (steps.length > 1) return this.#make(steps, max);
    return this.#refusalOf(only, () => this.#takeOne(only));
  }

  /**
   * Makes records of one kind together. Where that is refused, finds out by halves which ones it is for, as if each had been made
   * alone: the rest is made.
   */
  async #make(steps: readonly Step[], max: number): Promise<ApiError[]> {
    const told: (() => void)[] = [];
    try {
      await this.#change.tx.savepoint((tx) => this.#create(steps, { tx, told }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const [only] = steps;
      if (only !== undefined && steps.length === 1) return this.#refusalOf(only, () => Promise.reject(error));
      const middle = Math.ceil(steps.length / 2);
      const refusals = await this.#make(steps.slice(0, middle), max);
      if (refusals.length >= max) return refusals;
      return [...refusals, ...(await this.#make(steps.slice(middle), max - refusals.length))];
    }
    for (const tell of told) tell();
    return [];
  }

  async #refusalOf(step: Step, act: () => Promise<void>): Promise<ApiError[]> {
    try {
      await located(step, act);
      return [];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#lost.add(addressOf(step));
      return [error];
    }
  }

  async #takeOne(step: Step): Promise<void> {
    const { kind, action, id } = step;
    switch (action) {
      case "create":
        return this.#create([step]);
      case "replace":
        if (id !== null) await kind.remove(this.#as("DELETE", kind), id);
        return this.#create([step]);
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

  /** Makes records of one kind, in a savepoint where the change goes on without them if they are refused. */
  async #create(steps: readonly Step[], inside: Savepoint | null = null): Promise<void> {
    const [first] = steps;
    if (first === undefined) return;
    const change = this.#as("CREATE", first.kind);
    const ids = await first.kind.create(
      inside === null ? change : untilKept(change, inside),
      steps.map((step) => this.#fieldsOf(step)),
    );
    this.#note(
      steps.map((step, i): Made => ({ address: addressOf(step), kind: first.kind, id: ids[i] ?? "" })),
    );
  }

  /** Notes what addresses stand for. Throws VALIDATION_FAILED for a record that another address stands for, as of two of one asset. */
  #note(made: readonly Made[]): void {
    const owners = new Map<string, string>();
    for (const { address, kind, id } of made) {
      const record = `${kind.kind}/${id}`;
      const owner = owners.get(record) ?? this.#owners.get(record) ?? address;
      if (owner !== address)
        throw validationFailed([
          { path: "/", code: "custom", message: `is the same record as ${owner}: describe it once` },
        ]);
      owners.set(record, address);
    }
    for (const { address, id } of made) this.ids.set(address, id);
    for (const [record, address] of owners) this.#owners.set(record, address);
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
    const { tx, organizationId, actor, nowMs, afterCommit, record, emit } = this.#change;
    return {
      ...{ tx, organizationId, actor, nowMs, afterCommit },
      emit: (event, subject, payload) => {
        this.#events++;
        if (this.#events > EVENTS_MAX_OF_CHANGE) throw new ApiError("CONFLICT", TOO_MANY_EVENTS);
        emit(event, subject, payload);
      },
      record: (entry, action = `${verb}_${kind.audit}`) =>
        record({ ...entry, facts: { ...entry.facts, applyId: this.#applyId } }, action),
    };
  }
}

interface Made {
  readonly address: string;
  readonly kind: ConfigKind;
  readonly id: string;
}

/** A part of a transaction that may be undone, and what is told once it is not. */
interface Savepoint {
  readonly tx: TransactionSql;
  readonly told: (() => void)[];
}

/** A change within a savepoint, which says nothing of what it does until that is kept. */
function untilKept(change: Change, { tx, told }: Savepoint): Change {
  const { organizationId, actor, nowMs } = change;
  return {
    ...{ tx, organizationId, actor, nowMs },
    record: (entry, action) => told.push(() => change.record(entry, action)),
    emit: (event, subject, payload) => told.push(() => change.emit(event, subject, payload)),
    afterCommit: (act) => told.push(() => change.afterCommit(act)),
  };
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

import type { TransactionSql } from "postgres";
import type { Static, TObject } from "typebox";
import { appendAudit } from "../audit/append.ts";
import { type AuditEntry, type AuditOrigin, type AuditRecord, auditRecord } from "../audit/audit-entry.ts";
import { allOf } from "../storage/all-of.ts";
import { type Actor, actorFacts, auditActorOf, isCaller } from "./actor.ts";
import type { Change } from "./change.ts";
import { type EmittedEvent, type EventKind, encodeEvent } from "./events/event-kind.ts";
import { insertEvents, lockEvents, type SubscribersOfKind } from "./events/event-store.ts";
import { EVENTS_MAX_OF_CHANGE } from "./limits.ts";

interface ChangeParts extends Pick<Change, "tx" | "nowMs" | "afterCommit"> {
  /** What the call is recorded as; null where each record names its own action. */
  readonly action: string | null;
  readonly origin: AuditOrigin;
}

/** A change that gathers what is to be written at the end of its transaction. */
export class RecordedChange implements Change {
  readonly tx: TransactionSql;
  readonly organizationId: number;
  readonly actor: Actor;
  readonly nowMs: number;
  readonly afterCommit: Change["afterCommit"];
  readonly records: AuditRecord[] = [];
  readonly events: EmittedEvent[] = [];
  readonly #parts: ChangeParts;

  constructor(parts: ChangeParts, organizationId: number, actor: Actor) {
    this.tx = parts.tx;
    this.nowMs = parts.nowMs;
    this.afterCommit = parts.afterCommit;
    this.organizationId = organizationId;
    this.actor = actor;
    this.#parts = parts;
  }

  readonly record = (entry: AuditEntry, action: string | null = this.#parts.action): void => {
    if (action === null) throw new Error("a change that has no action of its own recorded none");
    const facts = { ...entry.facts, ...actorFacts(this.actor) };
    const by = { actor: auditActorOf(this.actor), origin: this.#parts.origin, atMs: this.nowMs };
    this.records.push(auditRecord(action, { ...entry, facts }, by));
  };

  readonly emit = <S extends TObject>(kind: EventKind<S>, subject: string, payload: Static<S>): void => {
    if (this.events.length === EVENTS_MAX_OF_CHANGE) throw new Error("a change emits too many events");
    this.events.push(encodeEvent(kind, subject, payload));
  };

  /** Throws an Error for a call that left no audit row. */
  requireRecord(): void {
    if (this.records.length > 0 || !isCaller(this.actor)) return;
    throw new Error(`${this.#parts.action ?? "a call"} changed something and recorded nothing`);
  }
}

/** What the changes of one transaction wrote in an organisation. */
export interface WrittenChange {
  readonly organizationId: number;
  readonly events: readonly EmittedEvent[];
  readonly records: readonly AuditRecord[];
}

/**
 * Writes what the changes of a transaction gathered, as the last thing it does: first all events and then all audit
 * rows, by organisation, so that transactions that wait here for each other never do so in a circle.
 */
export async function writeChanges(
  tx: TransactionSql,
  changes: readonly RecordedChange[],
  subscribers: SubscribersOfKind,
): Promise<WrittenChange[]> {
  for (const change of changes) change.requireRecord();
  const ids = [...new Set(changes.map(({ organizationId }) => organizationId))].sort((a, b) => a - b);
  const written = ids.map((organizationId) => {
    const own = changes.filter((change) => change.organizationId === organizationId);
    const events = own.flatMap((change) => change.events);
    const records = own.flatMap((change) => change.records);
    return { organizationId, events, records };
  });
  for (const { organizationId, events } of written) {
    if (events.length === 0) continue;
    // Sent at once: others of the organisation wait from the first on.
    await allOf([lockEvents(tx, organizationId), insertEvents(tx, organizationId, events, subscribers)]);
  }
  for (const { organizationId, records } of written) await appendAudit(tx, organizationId, records);
  return written;
}

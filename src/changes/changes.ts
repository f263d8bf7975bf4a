import type { Sql, TransactionSql } from "postgres";
import type { AuditOrigin } from "../audit/audit-entry.ts";
import { patient } from "../concurrency/patience.ts";
import { askPostgres } from "../storage/ask-postgres.ts";
import { restrictToOrganization } from "../storage/organization-transaction.ts";
import { endWhenStuck } from "../storage/stuck-transaction.ts";
import type { Actor } from "./actor.ts";
import type { AnonymousChange, Change, ChangeOptions } from "./change.ts";
import type { SubscribersOfKind } from "./events/event-store.ts";
import type { Subscription } from "./events/subscription.ts";
import { CHANGE_TIMEOUT_MS } from "./limits.ts";
import { RecordedChange, type WrittenChange, writeChanges } from "./recorded-change.ts";

/** Where a change comes from that nobody called for. */
export const SERVER_ORIGIN: AuditOrigin = { ip: "", userAgent: null };

/** Who changes what belongs to which organisation, and from where. */
interface Cause {
  readonly organizationId: number;
  readonly actor: Actor;
  readonly origin: AuditOrigin;
}

interface ChangesOptions {
  readonly sql: Sql;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Who is told of which events. */
  readonly subscriptions?: readonly Subscription[];
  /** Told of organisations whose audit log has grown. */
  readonly onAudited?: (organizationId: number) => void;
  /** Told when there are events to deliver. */
  readonly onEmitted?: () => void;
}

/** What the changes of a transaction gather. */
interface Gathered {
  readonly changes: RecordedChange[];
  readonly acts: (() => void)[];
}

/** The one way in which state of an organisation is changed on somebody's behalf: by a person, a program, or the server itself. */
export class Changes {
  readonly now: () => number;
  readonly #options: ChangesOptions;
  readonly #subscribers: SubscribersOfKind;

  constructor(options: ChangesOptions) {
    this.now = options.now;
    this.#options = options;
    this.#subscribers = subscribersOf(options.subscriptions ?? []);
  }

  /**
   * Runs a change as one transaction with its audit rows and its events. Somebody's call leaves at least one row, a rule
   * or a job those it records. `action` is what rows are recorded under; with null each names its own.
   */
  inChange<T>(
    { organizationId, actor, origin }: Cause,
    action: string | null,
    work: (change: Change) => Promise<T>,
    { reachesFurther }: ChangeOptions = {},
  ): Promise<T> {
    return this.#transact(async (tx, { changes, acts }) => {
      if (reachesFurther === undefined) await restrictToOrganization(tx, organizationId);
      const afterCommit = (act: () => void): unknown => acts.push(act);
      const parts = { tx, nowMs: this.now(), afterCommit, action, origin };
      const change = new RecordedChange(parts, organizationId, actor);
      changes.push(change);
      return work(change);
    });
  }

  /** The same for a call whose maker is found out in it, which may be nobody; so it reaches further than an organisation. */
  inAnonymousChange<T>(
    origin: AuditOrigin,
    action: string | null,
    work: (change: AnonymousChange) => Promise<T>,
  ): Promise<T> {
    return this.#transact(async (tx, { changes, acts }) => {
      const afterCommit = (act: () => void): unknown => acts.push(act);
      const nowMs = this.now();
      const by: AnonymousChange["by"] = (organizationId, actor, asked = { origin, atMs: nowMs }) => {
        const parts = { tx, nowMs: asked.atMs, afterCommit, action, origin: asked.origin };
        const change = new RecordedChange(parts, organizationId, actor);
        changes.push(change);
        return change;
      };
      return work({ tx, nowMs, afterCommit, by });
    });
  }

  async #transact<T>(work: (tx: TransactionSql, gathered: Gathered) => Promise<T>): Promise<T> {
    const gathered: Gathered = { changes: [], acts: [] };
    const { answer, written } = await askPostgres(
      () =>
        this.#options.sql.begin(async (tx) => {
          await endWhenStuck(tx, patient(CHANGE_TIMEOUT_MS));
          const answer = await work(tx, gathered);
          return { answer, written: await writeChanges(tx, gathered.changes, this.#subscribers) };
        }),
      CHANGE_TIMEOUT_MS,
    );
    this.#tell(gathered.acts, written);
    return answer;
  }

  #tell(acts: readonly (() => void)[], written: readonly WrittenChange[]): void {
    for (const act of acts) act();
    const { onAudited, onEmitted } = this.#options;
    for (const { organizationId, records } of written) if (records.length > 0) onAudited?.(organizationId);
    const isHeard = written.some(({ events }) => events.some(({ kind }) => this.#subscribers.has(kind)));
    if (isHeard) onEmitted?.();
  }
}

function subscribersOf(subscriptions: readonly Subscription[]): SubscribersOfKind {
  const names = new Map<string, string[]>();
  for (const { name, handlers } of subscriptions)
    for (const { kind } of handlers) names.set(kind, [...(names.get(kind) ?? []), name]);
  return names;
}

import type { TransactionSql } from "postgres";
import type { Static, TObject } from "typebox";
import type { AuditEntry, AuditOrigin } from "../audit/audit-entry.ts";
import type { Actor } from "./actor.ts";
import type { EventKind } from "./events/event-kind.ts";

/**
 * One change of state while it happens, whoever makes it. Everything done through `tx`, the audit rows and the events are
 * kept together or not at all.
 */
export interface Change {
  /** Sees the organisation's rows only, unless the change was declared to reach further. */
  readonly tx: TransactionSql;
  readonly organizationId: number;
  readonly actor: Actor;
  readonly nowMs: number;
  /**
   * Writes down what was changed, under the action of the change or another one. At least once where somebody's call is
   * the cause.
   */
  readonly record: (entry: AuditEntry, action?: string) => void;
  /**
   * Tells whoever subscribes, durably. Events of one subject, such as `incident:12`, reach a subscriber in order. Throws
   * for a payload that is not of the kind, or too large.
   */
  readonly emit: <S extends TObject>(kind: EventKind<S>, subject: string, payload: Static<S>) => void;
  /**
   * Does something in this process once the change is kept, such as telling caches; it must not throw. It is lost when
   * the server dies, and other instances hear nothing: what must happen is an event.
   */
  readonly afterCommit: (act: () => void) => void;
}

/** A change whose maker is found out in it, as at a login: nobody is signed in when the call comes. */
export interface AnonymousChange extends Pick<Change, "tx" | "nowMs" | "afterCommit"> {
  /**
   * The change as that of somebody in an organisation; one transaction may be several. `asked` is the call that it is
   * the answer to where that came earlier, `atMs` in milliseconds since 1970.
   */
  readonly by: (
    organizationId: number,
    actor: Actor,
    asked?: { origin: AuditOrigin; atMs: number },
  ) => Change;
}

export interface ChangeOptions {
  /**
   * Why the change must reach rows of no organisation or of several, for example those of a person; the transaction
   * then runs without row-level security.
   */
  readonly reachesFurther?: string;
}

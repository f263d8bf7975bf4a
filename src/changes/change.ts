import type { TransactionSql } from "postgres";
import type { Principal } from "../access/principal.ts";
import type { AuditEntry } from "../audit/audit-entry.ts";

/**
 * One state-changing call while it happens. Everything done through `tx`, the audit rows and the answer that is
 * remembered for an Idempotency-Key are kept together or not at all.
 */
export interface Change {
  /** Sees the caller's organisation only, unless the call was declared to reach further. */
  readonly tx: TransactionSql;
  readonly organizationId: number;
  readonly principal: Principal;
  readonly nowMs: number;
  /** Writes down what was changed, under the action the route declares or another one. At least one per change. */
  readonly record: (entry: AuditEntry, action?: string) => void;
  /** Does something once the change is kept, such as telling caches; it must not throw. */
  readonly afterCommit: (act: () => void) => void;
}

export interface ChangeOptions {
  /**
   * Why the change must reach rows of no organisation or of several, for example those of a person; the transaction
   * then runs without row-level security.
   */
  readonly reachesFurther?: string;
}

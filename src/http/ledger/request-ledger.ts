import type { Sql } from "postgres";
import type { Principal } from "../../access/principal.ts";
import type { SecretBox } from "../../access/secret-box.ts";
import type { AuditOrigin } from "../../audit/audit-entry.ts";
import { actorOf } from "../../changes/actor.ts";
import type { AnonymousChange, ChangeOptions } from "../../changes/change.ts";
import type { Changes } from "../../changes/changes.ts";
import { Admission } from "../../concurrency/admission.ts";
import { DailyCaps } from "../../usage/daily-caps.ts";
import {
  CHANGES_MAX_RUNNING,
  CHANGES_MAX_RUNNING_OF_ONE,
  CHANGES_MAX_WAITING,
  CHANGES_MAX_WAITING_OF_ONE,
} from "../limits.ts";
import type { ChangeWork, Reply } from "../route.ts";
import { type ExecutionOfKey, Idempotency, type RequestIdentity } from "./idempotency.ts";
import { type RememberedAnswer, rememberReply } from "./remembered-answer.ts";
import type { StoredRequests } from "./stored-requests.ts";

/** The call a change belongs to. */
interface ChangingCall {
  readonly principal: Principal;
  /** The action its route declares. */
  readonly action: string;
  readonly origin: AuditOrigin;
  /** Null without an Idempotency-Key. */
  readonly execution: ExecutionOfKey | null;
  /** Until when anybody waits for the answer. */
  readonly signal: AbortSignal;
}

/** What the plumbing keeps about state-changing calls, all of it in Postgres. */
export interface RequestLedger {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Throws PAT_DAILY_LIMIT_EXCEEDED. */
  takeMutation(principal: Principal): Promise<void>;
  /** See `Idempotency`. */
  begin(
    principal: Principal,
    key: string,
    identity: RequestIdentity,
  ): Promise<ExecutionOfKey | RememberedAnswer>;
  /**
   * Runs a change as one transaction with its audit rows and its remembered answer. Throws a retryable DependencyError
   * when too many wait already.
   */
  change(call: ChangingCall, work: ChangeWork, options: ChangeOptions): Promise<Reply>;
  /** Runs a change of somebody who is not signed in; see `Changes`. */
  changeAnonymously<T>(
    call: { readonly action: string | null; readonly origin: AuditOrigin },
    work: (change: AnonymousChange) => Promise<T>,
  ): Promise<T>;
}

interface RequestLedgerDeps {
  readonly sql: Sql;
  readonly box: SecretBox;
  readonly changes: Changes;
  /** Of this instance; absent where no route stores entries. */
  readonly storedRequests?: StoredRequests;
}

/** The ledger over Postgres. */
export class PostgresLedger implements RequestLedger {
  readonly now: () => number;
  readonly #changes: Changes;
  readonly #caps: DailyCaps;
  readonly #idempotency: Idempotency;
  /** Changes of one organisation wait for its row: in this queue they do so without a connection to Postgres. */
  readonly #admission = new Admission({
    what: "a change",
    dependency: "postgres",
    maxRunning: CHANGES_MAX_RUNNING,
    maxWaiting: CHANGES_MAX_WAITING,
    maxRunningOfOne: CHANGES_MAX_RUNNING_OF_ONE,
    maxWaitingOfOne: CHANGES_MAX_WAITING_OF_ONE,
  });

  constructor(deps: RequestLedgerDeps) {
    const { now } = deps.changes;
    this.now = now;
    this.#changes = deps.changes;
    this.#caps = new DailyCaps({ ...deps, now });
    this.#idempotency = new Idempotency(deps);
  }

  takeMutation(principal: Principal): Promise<void> {
    return this.#caps.takeMutation(principal);
  }

  begin(
    principal: Principal,
    key: string,
    identity: RequestIdentity,
  ): Promise<ExecutionOfKey | RememberedAnswer> {
    return this.#idempotency.begin(principal, key, identity);
  }

  async change(
    { principal, action, origin, execution, signal }: ChangingCall,
    work: ChangeWork,
    options: ChangeOptions,
  ): Promise<Reply> {
    const cause = { organizationId: principal.organizationId, actor: actorOf(principal), origin };
    const reply = await this.#admission.run(principal, signal, () =>
      this.#changes.inChange(
        cause,
        action,
        async (change) => {
          const made = await work(change);
          if (execution !== null) await execution.keepIn(change.tx, rememberReply(made));
          return made;
        },
        options,
      ),
    );
    execution?.kept();
    return reply;
  }

  changeAnonymously<T>(
    { action, origin }: { readonly action: string | null; readonly origin: AuditOrigin },
    work: (change: AnonymousChange) => Promise<T>,
  ): Promise<T> {
    return this.#changes.inAnonymousChange(origin, action, work);
  }
}

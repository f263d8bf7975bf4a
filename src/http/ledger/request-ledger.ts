import type { Sql, TransactionSql } from "postgres";
import type { Principal } from "../../access/principal.ts";
import type { SecretBox } from "../../access/secret-box.ts";
import { appendAudit } from "../../audit/append.ts";
import { type AuditOrigin, type AuditRecord, auditRecord } from "../../audit/audit-entry.ts";
import type { ChangeOptions } from "../../changes/change.ts";
import { Admission } from "../../concurrency/admission.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { restrictToOrganization } from "../../storage/organization-transaction.ts";
import { DailyCaps } from "../../usage/daily-caps.ts";
import {
  CHANGE_TIMEOUT_MS,
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
}

interface RequestLedgerDeps {
  readonly sql: Sql;
  readonly box: SecretBox;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Of this instance; absent where no route stores entries. */
  readonly storedRequests?: StoredRequests;
  /** Told of organisations whose audit log has grown. */
  readonly onAudited?: (organizationId: number) => void;
}

/** The ledger over Postgres. */
export class PostgresLedger implements RequestLedger {
  readonly now: () => number;
  readonly #deps: RequestLedgerDeps;
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
    this.now = deps.now;
    this.#deps = deps;
    this.#caps = new DailyCaps(deps);
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

  async change(call: ChangingCall, work: ChangeWork, options: ChangeOptions): Promise<Reply> {
    const acts: (() => void)[] = [];
    const reply = await this.#admission.run(call.principal, call.signal, () =>
      askPostgres(
        () => this.#deps.sql.begin((tx) => this.#transact(tx, call, work, options, acts)),
        CHANGE_TIMEOUT_MS,
      ),
    );
    call.execution?.kept();
    for (const act of acts) act();
    this.#deps.onAudited?.(call.principal.organizationId);
    return reply;
  }

  async #transact(
    tx: TransactionSql,
    { principal, action, origin, execution }: ChangingCall,
    work: ChangeWork,
    options: ChangeOptions,
    acts: (() => void)[],
  ): Promise<Reply> {
    const { organizationId, userId, tokenId, email } = principal;
    if (options.reachesFurther === undefined) await restrictToOrganization(tx, organizationId);
    const nowMs = this.now();
    const by = { actor: { userId, tokenId, email }, origin, atMs: nowMs };
    const records: AuditRecord[] = [];
    const reply = await work({
      tx,
      organizationId,
      principal,
      nowMs,
      record: (entry, other = action) => records.push(auditRecord(other, entry, by)),
      afterCommit: (act) => acts.push(act),
    });
    if (records.length === 0) throw new Error(`${action} changed something and recorded nothing`);
    if (execution !== null) await execution.keepIn(tx, rememberReply(reply));
    await appendAudit(tx, organizationId, records);
    return reply;
  }
}

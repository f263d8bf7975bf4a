import type { Sql } from "postgres";
import { type Ingest, requestIdentity } from "../../../ingest/index.ts";
import { WorkLoop } from "../../concurrency/work-loop.ts";
import type { Claim } from "../../jobs/claims/leased-rows.ts";
import { whenDue } from "../../jobs/due-watch.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import {
  type ClaimLog,
  claimOf,
  findAskedClaims,
  type IdempotencyKey,
  isAsked,
  type LostRequest,
  reclaimLost,
  releaseStored,
  releaseUnstored,
} from "./idempotency-store.ts";
import { LEASE_MS, SETTLE_MAX_CLAIMS, SETTLE_POLL_MS, SETTLE_STOP_MS } from "./limits.ts";

interface StoredRequestsOptions {
  readonly sql: Sql;
  readonly wal: Pick<Ingest["wal"], "names">;
  readonly events: Pick<Ingest["events"], "has" | "reachMs">;
  /** For how long an execution of another instance that is away is left to what its log says. */
  readonly holdMs: number;
  readonly log: Logger;
}

/**
 * Which requests with an Idempotency-Key have stored their entries, as far as this server's write-ahead log knows.
 *
 * An execution that stores entries names its log in its claim. Where it never answered (the process died, or Postgres
 * went away), whether its entries exist is a question to that log, and only the process that has it open can tell. So
 * another instance does not execute a repetition; it asks, in the claim's row. This server answers what it is asked as
 * soon as it is up: it lists what it is executing itself, and of what is not among that, the names of all requests that
 * were ever appended are remembered. A log that does not answer is waited for until the hold is over.
 */
export class StoredRequests {
  readonly #options: StoredRequestsOptions;
  /** Attempts under way in this process. */
  readonly #underWay = new Set<string>();
  readonly #loop: WorkLoop;

  constructor(options: StoredRequestsOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      work: () => this.settleOnce(),
      pollMs: SETTLE_POLL_MS,
      watch: whenDue(
        options.sql,
        (sql) => sql`EXISTS (SELECT 1 FROM idempotency_keys WHERE ${isAsked(sql, this.#names)})`,
      ),
      failure: "what other instances ask about requests could not be answered",
      log: options.log,
    });
  }

  /** Begins to answer. */
  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop(SETTLE_STOP_MS);
  }

  /** What a claim says of the log its execution appends to. */
  claimLog(): ClaimLog {
    const { wal, holdMs } = this.#options;
    return { identity: wal.names.present, reachMs: this.#reachMs(), holdMs };
  }

  /** To be called before an attempt claims its key, and once it is over whatever came of it. */
  begin(attempt: string): void {
    this.#underWay.add(attempt);
  }

  end(attempt: string): void {
    this.#underWay.delete(attempt);
  }

  /** Whether entries of the request are durable here. */
  has({ organizationId, credential }: IdempotencyKey, storedAs: string): boolean {
    return this.#options.events.has(requestIdentity(organizationId, credential, storedAs), 0);
  }

  /** Answers what is asked now; true when there may be more that can be answered. */
  async settleOnce(): Promise<boolean> {
    const { sql, wal } = this.#options;
    const asked = await askPostgres(() => findAskedClaims(sql, this.#names, SETTLE_MAX_CLAIMS));
    // Looked at after the question: an attempt that began since has claimed the key anew, which ends the question.
    const ended = asked.filter(({ attempt }) => !this.#underWay.has(attempt));
    let answers = 0;
    for (const claim of ended) {
      const isStored = this.has(claim, claim.storedAs);
      // A log that this one is a copy of may have written more since.
      if (!isStored && (claim.log !== wal.names.present || claim.endedForMs >= this.#reachMs())) continue;
      await this.release(claim, claimOf(claim, claim.attempt), claim.storedAs);
      answers += 1;
    }
    return answers === SETTLE_MAX_CLAIMS;
  }

  /** Gives a key back: as that of a request whose entries are stored, or to be executed anew. */
  async release(key: IdempotencyKey, claim: Claim, storedAs: string): Promise<void> {
    const { sql } = this.#options;
    const release = this.has(key, storedAs) ? releaseStored : releaseUnstored;
    await askPostgres(() => release(sql, claim));
  }

  /**
   * The requests that this log held when it was given up and that were stored elsewhere since: their entries are not to
   * be flushed. From then on nobody else stores those that it does hold. Throws while that is not known of all of them,
   * because another instance is at it or has died of it; it is asked, and waited for until the hold is over.
   */
  async takenOver(): Promise<Uint32Array[]> {
    const { sql, wal, holdMs } = this.#options;
    // First what can still be said in time: whoever has been told so does not take over.
    while (await this.settleOnce());
    const has = (lost: LostRequest): boolean => this.has(lost, lost.storedAs);
    const log = { present: wal.names.present, names: this.#names, holdMs };
    const { takenOver, undecided } = await askPostgres(() => reclaimLost(sql, log, has));
    if (undecided > 0)
      throw new Error(
        `${undecided} requests that this log holds were taken over by another one and not answered yet`,
      );
    return takenOver.map(({ organizationId, credential, storedAs }) =>
      requestIdentity(organizationId, credential, storedAs),
    );
  }

  get #names(): readonly string[] {
    const { present, earlier } = this.#options.wal.names;
    return [present, ...earlier];
  }

  /** A lease may have been renewed up to its own length after the entries were appended. */
  #reachMs(): number {
    return this.#options.events.reachMs - LEASE_MS;
  }
}

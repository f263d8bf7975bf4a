import type { ClickHouseClient } from "@clickhouse/client";
import type { Sql } from "postgres";
import type { Ingest } from "../../../../ingest/index.ts";
import { WorkLoop } from "../../../concurrency/work-loop.ts";
import type { Logger } from "../../../log.ts";
import { throwForClient } from "../../../receive/ingest-refusals.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { inOrganization } from "../../../storage/organization-transaction.ts";
import {
  CLOCK_MARGIN_MS,
  RECOVERY_FLUSH_MS,
  RECOVERY_MAX_CLAIMS,
  RECOVERY_POLL_MS,
  TAKE_OVER_AFTER_MS,
} from "../limits.ts";
import type { QuarantineMetrics } from "../quarantine-metrics.ts";
import type { RecordFilter } from "../record-store.ts";
import {
  type ClaimedRecord,
  type ClaimOutcome,
  claimRecords,
  countAllKept,
  findForeignClaims,
  findOpenClaims,
  type OpenClaim,
  recordsOfClaim,
  type StepRange,
  settleClaim,
} from "./claim-store.ts";
import { entryName } from "./entry-name.ts";
import { findStoredEntries } from "./stored-entries.ts";

interface ReplayClaimsOptions {
  readonly sql: Sql;
  readonly clickhouse: ClickHouseClient;
  /** The write-ahead log that this server's replays append to. */
  readonly wal: Pick<Ingest["wal"], "names" | "durableEnd" | "ledger">;
  readonly metrics: QuarantineMetrics;
  readonly log: Logger;
}

/** Records taken on by one step of a replay. */
export interface Claim {
  readonly id: string;
  readonly organizationId: number;
  /** In the order of their ids. */
  readonly records: readonly ClaimedRecord[];
}

/** How often the flush of the write-ahead log is looked at while something waits for it. */
const FLUSH_POLL_MS = 50;

/**
 * Who replays which records, so that each becomes an entry once, whoever dies when.
 *
 * A claim takes records from `held` to `replaying` in one transaction and names the write-ahead log that their entries
 * will be appended to. It ends in one transaction, which makes each of them `replayed` or `held` again. Where nobody
 * ended it (the process died, or Postgres went away), whether its entries exist is a question to that write-ahead log,
 * so only the process that has it open may end the claim, and it is open in one process at a time. That one knows that
 * its own steps have come to their end (it keeps a list of those that have not) and that the steps of the processes before
 * it have (they are gone). Then what is durable in the log now is all that a step of the claim has ever appended; once
 * it is flushed, the log store has every entry of the claim, by name, or never will: such records are held again.
 */
export class ReplayClaims {
  readonly #options: ReplayClaimsOptions;
  /** Claims whose steps are under way in this process. */
  readonly #underWay = new Set<string>();
  readonly #recovery: WorkLoop;

  constructor(options: ReplayClaimsOptions) {
    this.#options = options;
    this.#recovery = new WorkLoop({
      work: (signal) => this.recoverOnce(signal),
      pollMs: RECOVERY_POLL_MS,
      failure: "interrupted replays could not be settled",
      log: options.log,
    });
  }

  /** Begins to settle what was interrupted. */
  start(): void {
    this.#recovery.start();
  }

  stop(withinMs: number): Promise<void> {
    return this.#recovery.stop(withinMs);
  }

  /**
   * Takes records on and does `step` with them, which answers what became of them, or throws when it stored nothing.
   * Where it throws `UncertainStepError`, or the end cannot be written down, the claim is settled later. Null, and no
   * step, when nothing is left to take on.
   */
  async take(
    organizationId: number,
    filter: RecordFilter,
    range: StepRange,
    step: (claim: Claim) => Promise<ClaimOutcome>,
  ): Promise<{ readonly lastId: number; readonly outcome: ClaimOutcome } | null> {
    const id = crypto.randomUUID();
    this.#underWay.add(id);
    let isEnded = false;
    try {
      const records = await this.#claim(id, organizationId, filter, range);
      const last = records.at(-1);
      if (last === undefined) {
        isEnded = true;
        return null;
      }
      const outcome = await step({ id, organizationId, records }).catch(async (error) => {
        if (error instanceof UncertainStepError) throwForClient(error.cause);
        const held = records.map((record) => ({ id: record.id, reason: null }));
        await this.#end(organizationId, id, { replayed: [], held });
        isEnded = true;
        throw error;
      });
      await this.#end(organizationId, id, outcome);
      isEnded = true;
      return { lastId: last.id, outcome };
    } finally {
      this.#underWay.delete(id);
      if (!isEnded) this.#recovery.wake();
    }
  }

  #claim(
    id: string,
    organizationId: number,
    filter: RecordFilter,
    range: StepRange,
  ): Promise<ClaimedRecord[]> {
    const { sql, wal } = this.#options;
    const claim = { id, log: wal.names.present };
    return askPostgres(() =>
      inOrganization(sql, organizationId, (tx) => claimRecords(tx, organizationId, filter, range, claim)),
    );
  }

  async #end(organizationId: number, id: string, outcome: ClaimOutcome): Promise<void> {
    const { sql, metrics } = this.#options;
    const replayed = await askPostgres(() =>
      inOrganization(sql, organizationId, (tx) => settleClaim(tx, organizationId, id, outcome)),
    );
    metrics.records.inc({ outcome: "replayed" }, replayed);
  }

  /** Settles claims that nobody ended; true when there may be more. */
  async recoverOnce(signal: AbortSignal): Promise<boolean> {
    const { sql, wal, metrics } = this.#options;
    metrics.held.set(await askPostgres(() => countAllKept(sql)));
    const open = await askPostgres(() => findOpenClaims(sql, wal.names.present, RECOVERY_MAX_CLAIMS));
    // Looked at after the question: a step that began since is in neither, one that ended since settles to nothing.
    const interrupted = open.filter(({ id }) => !this.#underWay.has(id));
    if (interrupted.length === 0 || !(await this.#flushed(signal))) return false;
    for (const claim of interrupted) {
      if (signal.aborted) return false;
      await this.#settle(claim);
    }
    return open.length === RECOVERY_MAX_CLAIMS;
  }

  /**
   * Settles an organisation's claims of other write-ahead logs, for a person who says that those logs are gone for good:
   * what is not in the store now will never be, and its records are held again. Said of a log that comes back and has
   * such entries yet to flush, it makes them twice. Throws DependencyError.
   */
  async takeOver(organizationId: number): Promise<void> {
    const { sql, wal } = this.#options;
    const claims = await askPostgres(() =>
      inOrganization(sql, organizationId, (tx) =>
        findForeignClaims(tx, organizationId, wal.names.present, TAKE_OVER_AFTER_MS, RECOVERY_MAX_CLAIMS),
      ),
    );
    for (const claim of claims) await this.#settle(claim);
  }

  /** Waits until the store has everything that is durable now; false when that takes too long. */
  async #flushed(signal: AbortSignal): Promise<boolean> {
    const { wal } = this.#options;
    const target = wal.durableEnd;
    const deadline = performance.now() + RECOVERY_FLUSH_MS;
    while (wal.ledger.flushedThrough < target) {
      if (signal.aborted || performance.now() > deadline) return false;
      await Bun.sleep(FLUSH_POLL_MS);
    }
    return true;
  }

  async #settle({ id, organizationId, claimedAtMs }: OpenClaim): Promise<void> {
    const { sql, clickhouse, log } = this.#options;
    const records = await askPostgres(() =>
      inOrganization(sql, organizationId, (tx) => recordsOfClaim(tx, organizationId, id)),
    );
    const names = records.map(({ entryKey }) => entryName(entryKey));
    const stored = await findStoredEntries(clickhouse, organizationId, names, claimedAtMs - CLOCK_MARGIN_MS);
    const isStored = ({ entryKey }: { entryKey: string }): boolean => stored.has(entryName(entryKey));
    const outcome = {
      replayed: records.filter(isStored).map((record) => record.id),
      held: records.filter((record) => !isStored(record)).map((record) => ({ id: record.id, reason: null })),
    };
    await this.#end(organizationId, id, outcome);
    log.info(
      { organizationId, replayed: outcome.replayed.length, held: outcome.held.length },
      "an interrupted replay was settled",
    );
  }
}

/** A step may have stored its entries, or not; `cause` is why nobody knows. */
export class UncertainStepError extends Error {
  constructor(cause: unknown) {
    super("a step of a replay may or may not have stored its entries", { cause });
    this.name = "UncertainStepError";
  }
}

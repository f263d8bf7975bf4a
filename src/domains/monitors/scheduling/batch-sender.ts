import type { Sql } from "postgres";
import { BackgroundWork } from "../../../jobs/background-work.ts";
import { backoffMs } from "../../../jobs/claims/backoff.ts";
import { whenDue } from "../../../jobs/due-watch.ts";
import type { Logger } from "../../../log.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import type { ClickHouseEndpoint } from "../../../storage/clickhouse.ts";
import { insertOnce } from "../../../storage/insert-once.ts";
import { claimBatches, countWaiting, postponeBatches, removeBatches } from "./batch-store.ts";
import { BATCHES_BACKOFF, BATCHES_EVERY_MS, STOP_MS } from "./limits.ts";
import type { MonitorMetrics } from "./monitor-metrics.ts";

interface BatchSenderOptions {
  readonly sql: Sql;
  readonly clickhouse: ClickHouseEndpoint;
  readonly metrics: MonitorMetrics;
  readonly log: Logger;
}

/** Takes results to the log store, each once whoever dies on the way. While the store is away they wait in Postgres. */
export class BatchSender extends BackgroundWork {
  readonly #options: BatchSenderOptions;
  #waiting = 0;

  constructor(options: BatchSenderOptions) {
    super({
      pollMs: BATCHES_EVERY_MS,
      watch: whenDue(options.sql, (sql) => sql`${this.#waiting > 0} OR EXISTS (SELECT 1 FROM check_batches)`),
      failure: "results of monitors could not be taken to the log store",
      stopMs: STOP_MS,
      log: options.log,
    });
    this.#options = options;
  }

  /** One insert; nothing more at once, for what comes within a second goes into one part of the table. */
  async workOnce(signal: AbortSignal): Promise<boolean> {
    const { sql, metrics } = this.#options;
    const claimed = await askPostgres(() => claimBatches(sql));
    this.#waiting = await askPostgres(() => countWaiting(sql));
    metrics.resultsWaiting.set(this.#waiting);
    if (claimed === null) return false;
    try {
      await this.#insert(claimed.claim, claimed.rows, signal);
    } catch (error) {
      const delayMs = backoffMs(BATCHES_BACKOFF, claimed.attempts + 1);
      await askPostgres(() => postponeBatches(sql, claimed.claim, delayMs));
      throw error;
    }
    await askPostgres(() => removeBatches(sql, claimed.claim));
    return false;
  }

  async #insert(token: string, rows: readonly Uint8Array[], signal: AbortSignal): Promise<void> {
    // The rows of a batch are of one month, which is a partition.
    const body = new Blob(rows.map((bytes) => new Uint8Array(bytes)));
    await insertOnce(this.#options.clickhouse, { table: "monitor_checks", body, token }, signal);
  }
}

import { setTimeout as pause } from "node:timers/promises";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Sql } from "postgres";
import { fulfilledWithin } from "../../concurrency/deadline.ts";
import { WorkLoop } from "../../concurrency/work-loop.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import {
  ANCHOR_BATCH_HEADS,
  ANCHOR_GATHER_MS,
  ANCHOR_INSERT_TIMEOUT_MS,
  ANCHOR_MAX_BATCHES,
  ANCHOR_PASS_TIMEOUT_MS,
  ANCHOR_RETRY_BASE_MS,
  ANCHOR_RETRY_MAX_MS,
  ANCHOR_STOP_MS,
  ANCHOR_SWEEP_MS,
} from "../limits.ts";
import type { AnchorMetrics } from "./anchor-metrics.ts";
import { insertAnchors } from "./anchor-store.ts";
import { findUnanchoredHeads, noteAnchored, oldestUnanchoredMs, takeTurn } from "./unanchored-heads.ts";

export interface AnchorWriterOptions {
  readonly sql: Sql;
  readonly clickhouse: ClickHouseClient;
  readonly metrics: AnchorMetrics;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
  /** How often heads are looked for that nobody has told of. */
  readonly sweepMs?: number;
}

/**
 * Tells ClickHouse how far the audit logs of all organisations have grown and with which hash, within about a second
 * of a change, so that whoever rewrites a log in Postgres is contradicted. Instances take turns. A head is written
 * first and noted as written afterwards: a crash in between writes it twice, which says the same.
 */
export class AnchorWriter {
  readonly #options: AnchorWriterOptions;
  readonly #loop: WorkLoop;
  #failures = 0;
  /** When the oldest row without an anchor was made, as of the latest pass. */
  #oldestMs: number | null = null;

  constructor(options: AnchorWriterOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      work: (signal) => this.#work(signal),
      pollMs: options.sweepMs ?? ANCHOR_SWEEP_MS,
      failure: "audit logs could not be anchored",
      log: options.log,
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** An audit log has grown. Returns at once. */
  readonly wake = (): void => this.#loop.wake();

  /** Seconds for which the oldest row has been without an anchor; 0 when there is none. */
  get lagSec(): number {
    return this.#oldestMs === null ? 0 : Math.max(0, (this.#options.now() - this.#oldestMs) / 1000);
  }

  /** Anchors what is there, unless ClickHouse was away just now, and ends. */
  async stop(): Promise<void> {
    await this.#loop.stop(ANCHOR_STOP_MS);
    if (this.#failures > 0) return;
    try {
      await fulfilledWithin(this.#pass(AbortSignal.timeout(ANCHOR_STOP_MS)), ANCHOR_STOP_MS);
    } catch (error) {
      this.#options.log.warn({ err: error }, "the latest changes are anchored after the next start");
    }
  }

  /** True when it is to be called again at once. */
  async #work(signal: AbortSignal): Promise<boolean> {
    await pauseFor(ANCHOR_GATHER_MS, signal);
    try {
      const mayBeMore = !signal.aborted && (await this.#pass(signal));
      if (this.#failures > 0) this.#options.log.info("audit logs are anchored again");
      this.#failures = 0;
      return mayBeMore;
    } catch (error) {
      if (signal.aborted) return false;
      this.#options.metrics.anchors.inc({ outcome: "failed" });
      if (this.#failures === 0)
        this.#options.log.warn(
          { err: error },
          "audit logs are not anchored; it is tried again until it succeeds",
        );
      await pauseFor(Math.min(ANCHOR_RETRY_MAX_MS, ANCHOR_RETRY_BASE_MS * 2 ** this.#failures), signal);
      this.#failures += 1;
      return true;
    } finally {
      if (!signal.aborted) await this.#measureLag();
    }
  }

  /** Anchors every head once; true when there may be more, or another instance is at it. */
  #pass(signal: AbortSignal): Promise<boolean> {
    const { sql } = this.#options;
    const work = sql.begin(async (tx) => ((await takeTurn(tx)) ? this.#anchorHeads(signal) : true));
    return askPostgres(() => work, ANCHOR_PASS_TIMEOUT_MS);
  }

  async #anchorHeads(signal: AbortSignal): Promise<boolean> {
    const { sql, clickhouse, metrics, now } = this.#options;
    let afterId = 0;
    for (let batch = 0; batch < ANCHOR_MAX_BATCHES; batch += 1) {
      const heads = await findUnanchoredHeads(sql, afterId, ANCHOR_BATCH_HEADS);
      const last = heads.at(-1);
      if (last === undefined) return false;
      const patience = AbortSignal.any([signal, AbortSignal.timeout(ANCHOR_INSERT_TIMEOUT_MS)]);
      await insertAnchors(clickhouse, heads, now(), patience);
      for (const head of heads) await noteAnchored(sql, head);
      metrics.anchors.inc({ outcome: "written" }, heads.length);
      if (heads.length < ANCHOR_BATCH_HEADS) return false;
      afterId = last.organizationId;
    }
    return true;
  }

  /** Without an answer the age of what was the oldest before is the best guess. */
  async #measureLag(): Promise<void> {
    try {
      this.#oldestMs = await askPostgres(() => oldestUnanchoredMs(this.#options.sql));
    } catch (error) {
      this.#options.log.debug({ err: error }, "the lag of the anchors could not be measured");
    }
  }
}

/** Ends early when the signal does. */
async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
}

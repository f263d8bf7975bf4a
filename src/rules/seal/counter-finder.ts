import type { Sql } from "postgres";
import { logIdMs } from "../../../ingest/index.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import type { QueryRunner } from "../../storage/query-runner.ts";
import type { ReachedCounter } from "../counters/counter-plan.ts";
import { alertCountersAt, type Counter, isAnyCounted, notePast } from "../counters/counter-store.ts";
import { ALERT_FUTURE_MAX_MS, ALERT_PAST_MAX_MS } from "../counters/limits.ts";
import { type CounterChange, noteChanges } from "../streams/stream-store.ts";
import { changesOf } from "./changed-buckets.ts";
import { EntryCounting } from "./count-entries.ts";
import type { Found, SealedRange, SealFinder, SealNote } from "./finder.ts";
import { KnownCounters } from "./known-counters.ts";
import { ReachedCounters } from "./reached-counters.ts";
import type { Signal } from "./signal-store.ts";

interface CounterFinderOptions {
  readonly sql: Sql;
  readonly endpoint: ClickHouseEndpoint;
  readonly runner: Pick<QueryRunner, "run">;
  /** Rings when rules have something to look at. */
  readonly onChanged: () => void;
  readonly log: Logger;
  /** Counters that are not worth a look at which of them may count anything; for tests. */
  readonly few?: number;
}

/** Counts entries by the counters of their organisations. */
export class CounterFinder implements SealFinder {
  readonly #options: CounterFinderOptions;
  readonly #counting: EntryCounting;
  readonly #reached: ReachedCounters;
  readonly #counters: KnownCounters;
  readonly isWanted = isAnyCounted;

  constructor(options: CounterFinderOptions) {
    this.#options = options;
    this.#counting = new EntryCounting(options.runner);
    this.#reached = new ReachedCounters(options.endpoint, options.few);
    this.#counters = new KnownCounters(options.sql);
  }

  readonly onNoted = (): void => this.#options.onChanged();

  readonly find = async (range: SealedRange, signal: AbortSignal): Promise<Found | null> => {
    const { sql, log } = this.#options;
    const { span, organizations, revision } = range;
    const counters = await this.#counters.at(revision, [...organizations.keys()]);
    if (counters.length === 0) return null;
    const reached = await this.#reachedOf(counters, range, signal);
    const { counts, failed } = await this.#counting.count(reached, span, signal);
    for (const counter of failed) {
      log.warn(
        { counterId: counter.id },
        "a counter cannot be counted; what it counts is read from the entries",
      );
      await askPostgres(() => notePast(sql, counter.id, "failed"));
    }
    const lastId = span.through ?? span.after;
    const signals = counts.map(({ counter, bucketMs, group, n, groups, times }): Signal => {
      const { id, organizationId } = counter;
      return {
        organizationId,
        kind: "count",
        key: id,
        bucketMs,
        group,
        n,
        valueHash: BigInt(groups ?? 0),
        times,
        lastId,
      };
    });
    return { signals, note: noteOf(changesOf(counts)) };
  };

  /** Those that may count anything; where the store will not say, any of them may. */
  async #reachedOf(
    counters: readonly Counter[],
    range: SealedRange,
    signal: AbortSignal,
  ): Promise<readonly ReachedCounter[]> {
    try {
      return await this.#reached.find(counters, range, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#options.log.warn({ err: error }, "every counter is counted, whether it may have entries or not");
      return counters.map((counter) => ({ counter, tests: null }));
    }
  }

  /** Every counter of alerts may have got entries, at any time that alerts know. */
  readonly recover = async ({ span, revision }: SealedRange): Promise<SealNote | null> => {
    const counters = await askPostgres(() => alertCountersAt(this.#options.sql, revision));
    const fromMs = logIdMs(span.after) - ALERT_PAST_MAX_MS;
    const toMs = logIdMs(span.through ?? span.after) + ALERT_FUTURE_MAX_MS;
    return noteOf(counters.map((counter) => ({ ...counter, fromMs, toMs })));
  };
}

function noteOf(changes: readonly CounterChange[]): SealNote | null {
  return changes.length === 0 ? null : (tx) => noteChanges(tx, changes);
}

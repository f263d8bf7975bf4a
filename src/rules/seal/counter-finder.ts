import type { Sql } from "postgres";
import { logIdMs } from "../../../ingest/index.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import type { QueryRunner } from "../../storage/query-runner.ts";
import { alertCountersAt, countersAt, isAnyCounted, notePast } from "../counters/counter-store.ts";
import { ALERT_FUTURE_MAX_MS, ALERT_PAST_MAX_MS } from "../counters/limits.ts";
import { type CounterChange, noteChanges } from "../streams/stream-store.ts";
import { changesOf } from "./changed-buckets.ts";
import { EntryCounting } from "./count-entries.ts";
import type { Found, SealedRange, SealFinder, SealNote } from "./finder.ts";
import type { Signal } from "./signal-store.ts";

interface CounterFinderOptions {
  readonly sql: Sql;
  readonly runner: Pick<QueryRunner, "run">;
  /** Rings when rules have something to look at. */
  readonly onChanged: () => void;
  readonly log: Logger;
}

/** Counts entries by the counters of their organisations. */
export class CounterFinder implements SealFinder {
  readonly #options: CounterFinderOptions;
  readonly #counting: EntryCounting;
  readonly isWanted = isAnyCounted;

  constructor(options: CounterFinderOptions) {
    this.#options = options;
    this.#counting = new EntryCounting(options.runner);
  }

  readonly onNoted = (): void => this.#options.onChanged();

  readonly find = async (range: SealedRange, signal: AbortSignal): Promise<Found | null> => {
    const { sql, log } = this.#options;
    const { span, organizations, revision } = range;
    const counters = await askPostgres(() => countersAt(sql, [...organizations.keys()], revision));
    if (counters.length === 0) return null;
    const { counts, failed } = await this.#counting.count(counters, span, signal);
    for (const counter of failed) {
      log.warn(
        { counterId: counter.id },
        "a counter cannot be counted; what it counts is read from the entries",
      );
      await askPostgres(() => notePast(sql, counter.id, "failed"));
    }
    const lastId = span.through ?? span.after;
    const signals = counts.map(({ counter, bucketMs, group, n, times }): Signal => {
      const { id, organizationId } = counter;
      return { organizationId, kind: "count", key: id, bucketMs, group, n, times, lastId };
    });
    return { signals, note: noteOf(changesOf(counts)) };
  };

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

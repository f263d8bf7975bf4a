import type { Sql } from "postgres";
import { ALL_TIME, type MadeEntries, type Relation, type TimeRange } from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { FairShare } from "../../concurrency/fair-share.ts";
import { MemoryShare } from "../../concurrency/memory-share.ts";
import { DependencyError } from "../../errors.ts";
import { BackgroundWork } from "../../jobs/background-work.ts";
import { Claimant } from "../../jobs/claims/claimant.ts";
import { takeTurn, takeTurnBack } from "../../jobs/claims/turns.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { countsIn, countsPlan } from "../counters/counter-plan.ts";
import { type Counter, duePasts, notePast } from "../counters/counter-store.ts";
import { isOfTheCounter } from "../counters/refusals.ts";
import { COUNTING_BUDGET, COUNTING_MEMORY_BYTES, SEAL_MAX_ENTRIES } from "../seal/limits.ts";
import { insertSignals, pastThrough, type Signal, type SignalTable } from "../seal/signal-store.ts";
import { countedSpans } from "../streams/stream-store.ts";
import { PAST_EVERY_MS, PAST_LEASE_MS, PAST_MAX_COUNTERS, PAST_STEP_DAYS, PAST_STOP_MS } from "./limits.ts";

interface PastCountingOptions {
  readonly sql: Sql;
  readonly signals: SignalTable;
  readonly ranges: Pick<LogRanges, "read">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
  /** Of this data directory: what an earlier start was at when it died, it goes on with at once. */
  readonly claimant?: Claimant;
}

const TURN = "log-counter-past";
const DAY_SEC = 86_400;
const DAY_MS = DAY_SEC * 1000;
const NANOS_PER_MILLI = 1_000_000n;

/**
 * Counts what there was before a counter began, wherever it lies by now: exactly the entries that no seal counts for it. A
 * few days at a time, from the oldest on; which are done stands in the store beside what they came to.
 */
export class PastCounting extends BackgroundWork {
  readonly #options: PastCountingOptions;
  readonly #memory = new FairShare(COUNTING_MEMORY_BYTES);
  /** The last counter of the latest turn, after which the next one goes on. */
  #after = 0;
  readonly #claimant: Claimant;
  #hasTakenBack = false;

  constructor(options: PastCountingOptions) {
    super({
      pollMs: PAST_EVERY_MS,
      failure: "entries from before a counter could not be counted; they will be",
      stopMs: PAST_STOP_MS,
      log: options.log,
    });
    this.#options = options;
    this.#claimant = options.claimant ?? new Claimant(null);
  }

  /** Counts the past of the next counters; false when none was, or another instance is at it. */
  async workOnce(signal: AbortSignal): Promise<boolean> {
    const { sql } = this.#options;
    if (!this.#hasTakenBack) await takeTurnBack(sql, TURN, this.#claimant);
    this.#hasTakenBack = true;
    const work = async (): Promise<boolean> => {
      const due = await askPostgres(() => duePasts(sql, this.#after, PAST_MAX_COUNTERS));
      this.#after = due.length < PAST_MAX_COUNTERS ? 0 : (due.at(-1)?.id ?? 0);
      let isAny = false;
      for (const counter of due) {
        if (signal.aborted) break;
        isAny = (await this.#settle(counter, signal)) || isAny;
      }
      return isAny || this.#after > 0;
    };
    return (await takeTurn(sql, TURN, work, this.#claimant, PAST_LEASE_MS)) ?? false;
  }

  /** False for one that has to wait, which keeps no other one waiting unless the log store itself is away. */
  async #settle(counter: Counter, signal: AbortSignal): Promise<boolean> {
    const { sql, log } = this.#options;
    const counterId = counter.id;
    try {
      await this.#count(counter, signal);
      await askPostgres(() => notePast(sql, counterId, "counted"));
      return true;
    } catch (error) {
      const isAway = error instanceof DependencyError && error.dependency !== "archive";
      if (isAway || signal.aborted) throw error;
      if (!isOfTheCounter(error)) {
        log.warn({ err: error, counterId }, "the past of a counter cannot be counted yet");
        return false;
      }
      log.warn(
        { err: error, counterId },
        "the past of a counter cannot be counted; it is read from the entries",
      );
      await askPostgres(() => notePast(sql, counterId, "failed"));
      return true;
    }
  }

  async #count(counter: Counter, signal: AbortSignal): Promise<void> {
    const { sql, signals, now } = this.#options;
    const spans = await askPostgres(() => countedSpans(sql, counter.id, "all"));
    const past: MadeEntries = { are: "outside", spans };
    if (counter.pastFromMs !== null) return this.#countSince(counter, counter.pastFromMs, past, signal);
    const doneMs = (await pastThrough(signals, counter, signal)) ?? Number.NEGATIVE_INFINITY;
    const ofDays = countsPlan({ ...counter, bucketSec: DAY_SEC });
    const days = (await this.#ask(counter, ofDays, ALL_TIME, past, signal))
      .map(([day]) => Number(day) * DAY_MS)
      .filter((dayMs) => dayMs >= doneMs)
      .toSorted((left, right) => left - right);
    for (let at = 0; at < days.length; at += PAST_STEP_DAYS) {
      signal.throwIfAborted();
      const step = days.slice(at, at + PAST_STEP_DAYS);
      const fromMs = step[0] ?? 0;
      const toMs = (step.at(-1) ?? 0) + DAY_MS;
      const rows = await this.#ask(
        counter,
        countsPlan(counter),
        { from: BigInt(fromMs) * NANOS_PER_MILLI, to: BigInt(toMs) * NANOS_PER_MILLI - 1n },
        past,
        signal,
      );
      const found: Signal[] = rows.map(([bucket, n]) => ({
        ...signalOf(counter, "count"),
        bucketMs: Number(bucket) * counter.bucketSec * 1000,
        n: Number(n),
      }));
      found.push({ ...signalOf(counter, "past"), bucketMs: toMs, n: 0 });
      const day = new Date(now()).toISOString().slice(0, 10);
      await insertSignals(signals, found, `past:${counter.id}:${toMs}`, day, signal);
    }
  }

  /** All of it at once: the windows that a rule needs to begin with. */
  async #countSince(
    counter: Counter,
    sinceMs: number,
    past: MadeEntries,
    signal: AbortSignal,
  ): Promise<void> {
    const { signals, now } = this.#options;
    if ((await pastThrough(signals, counter, signal)) !== null) return;
    const range = { from: BigInt(sinceMs) * NANOS_PER_MILLI, to: null };
    const rows = await this.#ask(counter, countsPlan(counter), range, past, signal);
    const found: Signal[] = countsIn(rows, counter)
      .filter(({ bucketMs }) => bucketMs >= sinceMs)
      .map(({ bucketMs, group, n, groups, times }) => {
        const valueHash = BigInt(groups ?? 0);
        return { ...signalOf(counter, "count"), bucketMs, group, n, valueHash, times };
      });
    found.push({ ...signalOf(counter, "past"), bucketMs: sinceMs, n: 0 });
    const day = new Date(now()).toISOString().slice(0, 10);
    await insertSignals(signals, found, `past:${counter.id}:${sinceMs}`, day, signal);
  }

  async #ask(
    { organizationId }: Counter,
    plan: Relation,
    timeRange: TimeRange,
    made: MadeEntries,
    signal: AbortSignal,
  ): Promise<readonly (readonly unknown[])[]> {
    const memory = new MemoryShare(this.#memory, [organizationId]);
    const statement = {
      ...{ operation: "counter_past", plan, timeRange, made },
      maxRows: SEAL_MAX_ENTRIES,
      budget: COUNTING_BUDGET,
    };
    try {
      const caller = { organizationId, userId: 0, signal, memory };
      const { value, coverage } = await this.#options.ranges.read(caller, (logs) => logs.run(statement));
      if (coverage.partial)
        throw new DependencyError("archive", "archived entries cannot be read", { retryable: true });
      return value.rows;
    } finally {
      memory.close();
    }
  }
}

function signalOf({ id, organizationId }: Counter, kind: "count" | "past") {
  return { organizationId, kind, key: id, lastId: 0n };
}

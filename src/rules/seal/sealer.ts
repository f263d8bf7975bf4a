import type { Sql } from "postgres";
import { logIdMs } from "../../../ingest/index.ts";
import type { MadeSpan } from "../../../query/index.ts";
import { BackgroundWork } from "../../jobs/background-work.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import type { QueryRunner } from "../../storage/query-runner.ts";
import { alertCountersAt, countersAt, notePast } from "../counters/counter-store.ts";
import { ALERT_FUTURE_MAX_MS, ALERT_PAST_MAX_MS } from "../counters/limits.ts";
import {
  beginSeal,
  type CounterChange,
  endSeal,
  endStream,
  type Intent,
  noteThrough,
  type OpenStream,
  type Sealing,
  sealUncounted,
  takeStreams,
} from "../streams/stream-store.ts";
import { changesOf } from "./changed-buckets.ts";
import { EntryCounting } from "./count-entries.ts";
import { SEAL_EVERY_MS, SEAL_MAX_ENTRIES, SEAL_MAX_STREAMS, SEAL_STOP_MS } from "./limits.ts";
import type { SealMetrics } from "./seal-metrics.ts";
import { insertSignals, type Signal, type SignalTable, sealedThrough } from "./signal-store.ts";
import { greatestStored, idOfEntry, organizationsIn } from "./stored-entries.ts";
import type { StoredMarks } from "./stored-marks.ts";

interface SealerOptions {
  readonly sql: Sql;
  readonly signals: SignalTable;
  readonly runner: Pick<QueryRunner, "run">;
  readonly sealing: Sealing;
  readonly marks: Pick<StoredMarks, "throughOf">;
  /** Whether everything is stored that an earlier start left in the log of this server. */
  readonly isRecovered: () => boolean;
  /** Whether everything is stored that this server has taken. */
  readonly isDrained: () => boolean;
  /** Rings when rules have something to look at. */
  readonly onChanged: () => void;
  readonly metrics: SealMetrics;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Counts what is stored, stream by stream and range by range of ids, each range exactly once whoever dies on the way: what
 * is begun stands in Postgres, and what it found comes into the store together with the mark that it is done.
 */
export class Sealer extends BackgroundWork {
  readonly #options: SealerOptions;
  readonly #counting: EntryCounting;

  constructor(options: SealerOptions) {
    super({
      pollMs: SEAL_EVERY_MS,
      failure: "stored entries could not be counted; they will be",
      stopMs: SEAL_STOP_MS,
      log: options.log,
    });
    this.#options = options;
    this.#counting = new EntryCounting(options.runner);
  }

  /** Seals every stream that is this server's to seal as far as one seal goes; true when there is more to seal at once. */
  async workOnce(signal: AbortSignal): Promise<boolean> {
    const { sql, sealing, metrics, now } = this.#options;
    const streams = await askPostgres(() => takeStreams(sql, sealing, SEAL_MAX_STREAMS));
    let isMore = false;
    for (const stream of streams) {
      if (signal.aborted) return false;
      isMore = (await this.#advance(stream, signal)) || isMore;
    }
    if (!isMore) metrics.lastRound.set(now() / 1000);
    return isMore;
  }

  async #advance(stream: OpenStream, signal: AbortSignal): Promise<boolean> {
    const { sql, signals, sealing } = this.#options;
    const begun = stream.intent;
    if (begun !== null) {
      const sealed = await sealedThrough(signals, stream.id, signal);
      const changes =
        sealed === null || sealed < begun.to
          ? await this.#seal(stream, begun, signal)
          : await this.#unknownChanges(stream, begun);
      await this.#end(stream, begun, changes);
      return true;
    }
    // What comes from the log of an earlier start comes in pieces, of which no end is known from outside.
    if (stream.isFormer && !this.#options.isRecovered()) return false;
    const idleMs = stream.isOwn ? this.#idleSince() : null;
    const stored = await this.#storedThrough(stream, signal);
    if (stored === null || stored <= stream.sealedId) {
      if (stream.isFormer) await askPostgres(() => endStream(sql, stream));
      if (idleMs !== null) await askPostgres(() => noteThrough(sql, stream, idleMs));
      return false;
    }
    if (await askPostgres(() => sealUncounted(sql, stream, stored, sealing))) return false;
    const { to, isAll } = await this.#boundedTo(spanOf(stream, stored), stored, signal);
    const intent = await askPostgres(() => beginSeal(sql, stream, to, sealing));
    if (intent === null) return false;
    await this.#end(stream, intent, await this.#seal(stream, intent, signal));
    return !isAll;
  }

  /** A moment, milliseconds since 1970, before which everything is stored that this server has taken; null while some waits. */
  #idleSince(): number | null {
    const nowMs = this.#options.now();
    return this.#options.isDrained() ? nowMs : null;
  }

  async #end(stream: OpenStream, intent: Intent, changes: readonly CounterChange[]): Promise<void> {
    const { sql, now, onChanged } = this.#options;
    const throughMs = Math.min(now(), logIdMs(intent.to));
    await askPostgres(() => endSeal(sql, stream, intent, { throughMs, changes }));
    if (changes.length > 0) onChanged();
  }

  /** What a seal may have changed that was written by somebody who died before he could say. */
  async #unknownChanges(stream: OpenStream, { to, revision }: Intent): Promise<CounterChange[]> {
    const counters = await askPostgres(() => alertCountersAt(this.#options.sql, revision));
    const fromMs = logIdMs(stream.sealedId) - ALERT_PAST_MAX_MS;
    const toMs = logIdMs(to) + ALERT_FUTURE_MAX_MS;
    return counters.map((counter) => ({ ...counter, fromMs, toMs }));
  }

  /** The last id up to which everything of the stream is in the store that ever comes from before; null for none. */
  async #storedThrough(stream: OpenStream, signal: AbortSignal): Promise<bigint | null> {
    const { signals, marks } = this.#options;
    if (!stream.isOwn) return greatestStored(signals.endpoint, spanOf(stream, stream.lastId), signal);
    const mark = marks.throughOf(stream.instance);
    if (mark === null || mark < stream.firstId) return null;
    return stream.lastId !== null && mark > stream.lastId ? stream.lastId : mark;
  }

  async #boundedTo(
    span: MadeSpan,
    stored: bigint,
    signal: AbortSignal,
  ): Promise<{ readonly to: bigint; readonly isAll: boolean }> {
    const bound = await idOfEntry(this.#options.signals.endpoint, span, SEAL_MAX_ENTRIES, signal);
    return bound === null || bound >= stored ? { to: stored, isAll: true } : { to: bound, isAll: false };
  }

  async #seal(stream: OpenStream, { to, revision }: Intent, signal: AbortSignal): Promise<CounterChange[]> {
    const { sql, signals, metrics, now, log } = this.#options;
    const span = spanOf(stream, to);
    const organizations = await organizationsIn(signals.endpoint, span, signal);
    const counters = await askPostgres(() => countersAt(sql, [...organizations.keys()], revision));
    if (counters.length === 0) return [];
    const { counts, failed } = await this.#counting.count(counters, span, signal);
    for (const counter of failed) {
      log.warn(
        { counterId: counter.id },
        "a counter cannot be counted; what it counts is read from the entries",
      );
      await askPostgres(() => notePast(sql, counter.id, "failed"));
    }
    const found: Signal[] = counts.map(({ counter: { id, organizationId }, bucketMs, group, n, times }) => {
      return { organizationId, kind: "count", key: id, bucketMs, group, n, times, lastId: to };
    });
    found.push({ organizationId: 0, kind: "seal", key: stream.id, bucketMs: 0, n: 0, lastId: to });
    const token = `${stream.id}:${stream.sealedId}-${to}:${revision}`;
    await insertSignals(signals, found, token, new Date(now()).toISOString().slice(0, 10), signal);
    metrics.signals.inc(found.length);
    metrics.entries.inc([...organizations.values()].reduce((sum, entries) => sum + entries, 0));
    return changesOf(counts);
  }
}

/** What of the stream is not sealed, up to an id. */
function spanOf({ instance, sealedId }: OpenStream, through: bigint | null): MadeSpan {
  return { instance, after: sealedId, through };
}

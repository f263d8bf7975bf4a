import { setTimeout as pause } from "node:timers/promises";
import type { Sql, TransactionSql } from "postgres";
import { firstLogIdAt, logIdMs } from "../../../ingest/index.ts";
import type { MadeSpan } from "../../../query/index.ts";
import { BackgroundWork } from "../../jobs/background-work.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import {
  beginSeal,
  endSeal,
  endStream,
  type Intent,
  noteThrough,
  type OpenStream,
  type Sealing,
  sealUnwanted,
  takeStreams,
} from "../streams/stream-store.ts";
import type { SealedRange, SealFinder, SealNote } from "./finder.ts";
import { idleShare } from "./idle-share.ts";
import {
  IDLE_SHARE_MIN,
  SEAL_BUSY_ENTRIES,
  SEAL_END_LOOK_MS,
  SEAL_EVERY_MS,
  SEAL_MAX_ENTRIES,
  SEAL_MAX_STREAMS,
  SEAL_STOP_MS,
} from "./limits.ts";
import { restAfter } from "./pace.ts";
import type { SealMetrics } from "./seal-metrics.ts";
import { insertSignals, type Signal, type SignalTable, sealedThrough } from "./signal-store.ts";
import { greatestStored, idOfEntry, organizationsIn } from "./stored-entries.ts";
import type { StoredMarks } from "./stored-marks.ts";

interface SealerOptions {
  readonly sql: Sql;
  readonly signals: SignalTable;
  /** What is looked for in the entries. */
  readonly finders: readonly SealFinder[];
  readonly sealing: Sealing;
  readonly marks: Pick<StoredMarks, "throughOf">;
  /** Whether everything is stored that an earlier start left in the log of this server. */
  readonly isRecovered: () => boolean;
  /** Whether everything is stored that this server has taken. */
  readonly isDrained: () => boolean;
  readonly metrics: SealMetrics;
  /** What share of the machine is idle, from 0 to 1; for tests. */
  readonly idleShare?: (signal: AbortSignal) => Promise<number>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
}

/** What one finder has to note. */
interface Notes {
  readonly finder: SealFinder;
  readonly note: SealNote;
}

/**
 * Looks through what is stored, stream by stream and range by range of ids, each range exactly once whoever dies on the way:
 * what is begun stands in Postgres, and what it found comes into the store together with the mark that it is done.
 */
export class Sealer extends BackgroundWork {
  readonly #options: SealerOptions;
  /** Whether the machine had nothing left when the round began. */
  #isBusy = false;
  /** In how much time came what the round has sealed of this server's own entries. */
  #coveredMs = 0;

  constructor(options: SealerOptions) {
    super({
      pollMs: SEAL_EVERY_MS,
      failure: "stored entries could not be looked through; they will be",
      stopMs: SEAL_STOP_MS,
      log: options.log,
    });
    this.#options = options;
  }

  /** Seals every stream that is this server's to seal as far as one seal goes; true when there is more to seal at once. */
  async workOnce(signal: AbortSignal): Promise<boolean> {
    const { sql, sealing, metrics, now } = this.#options;
    const streams = await askPostgres(() => takeStreams(sql, sealing, SEAL_MAX_STREAMS));
    const storedBefore = this.#storedByUs(streams);
    this.#isBusy = (await (this.#options.idleShare ?? idleShare)(signal)) < IDLE_SHARE_MIN;
    const begunMs = performance.now();
    this.#coveredMs = 0;
    let isMore = false;
    for (const stream of streams) {
      if (signal.aborted) return false;
      isMore = (await this.#advance(stream, signal)) || isMore;
    }
    if (!isMore) metrics.lastRound.set(now() / 1000);
    else if (this.#isBusy && this.#storedByUs(streams) !== storedBefore) {
      const [tookMs, behindMs] = [performance.now() - begunMs, this.#behindMs(streams)];
      await rest(restAfter({ tookMs, coveredMs: this.#coveredMs, behindMs }), signal);
    }
    return isMore;
  }

  /** How far entries of this server are stored: where that moves, somebody is sending. */
  #storedByUs(streams: readonly OpenStream[]): bigint | null {
    const own = streams.find(({ isOwn }) => isOwn);
    return own === undefined ? null : this.#options.marks.throughOf(own.instance);
  }

  /** How long ago came what is the next to be sealed of this server's own entries; 0 where all is sealed. */
  #behindMs(streams: readonly OpenStream[]): number {
    const own = streams.find(({ isOwn }) => isOwn);
    return own === undefined ? 0 : Math.max(0, this.#options.now() - logIdMs(own.sealedId));
  }

  async #advance(stream: OpenStream, signal: AbortSignal): Promise<boolean> {
    const { sql, signals, sealing } = this.#options;
    const begun = stream.intent;
    if (begun !== null) {
      const sealed = await sealedThrough(signals, stream.id, signal);
      const range = await this.#rangeOf(stream, begun, signal);
      const notes =
        sealed === null || sealed < begun.to
          ? await this.#seal(stream, range, signal)
          : await this.#recover(range, signal);
      await this.#end(stream, begun, notes);
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
    if (await askPostgres(() => sealUnwanted(sql, stream, stored, sealing, (tx) => this.#isWanted(tx))))
      return false;
    const { to, isAll } = await this.#boundedTo(spanOf(stream, stored), stored, signal);
    const intent = await askPostgres(() => beginSeal(sql, stream, to, sealing));
    if (intent === null) return false;
    const range = await this.#rangeOf(stream, intent, signal);
    await this.#end(stream, intent, await this.#seal(stream, range, signal));
    return !isAll;
  }

  /** A moment, milliseconds since 1970, before which everything is stored that this server has taken; null while some waits. */
  #idleSince(): number | null {
    const nowMs = this.#options.now();
    return this.#options.isDrained() ? nowMs : null;
  }

  async #isWanted(tx: TransactionSql): Promise<boolean> {
    for (const { isWanted } of this.#options.finders) if (await isWanted(tx)) return true;
    return false;
  }

  async #end(stream: OpenStream, intent: Intent, notes: readonly Notes[]): Promise<void> {
    const { sql, now } = this.#options;
    const throughMs = Math.min(now(), logIdMs(intent.to));
    await askPostgres(() =>
      endSeal(sql, stream, intent, { throughMs, notes: notes.map(({ note }) => note) }),
    );
    if (stream.isOwn) this.#coveredMs += logIdMs(intent.to) - logIdMs(stream.sealedId);
    for (const { finder } of notes) finder.onNoted();
  }

  /** What follows of a seal that somebody wrote who died before he could say. */
  async #recover(range: SealedRange, signal: AbortSignal): Promise<Notes[]> {
    const notes: Notes[] = [];
    for (const finder of this.#options.finders) {
      const note = await finder.recover(range, signal);
      if (note !== null) notes.push({ finder, note });
    }
    return notes;
  }

  /** The last id up to which everything of the stream is in the store that ever comes from before; null for none. */
  async #storedThrough(stream: OpenStream, signal: AbortSignal): Promise<bigint | null> {
    const { signals, marks } = this.#options;
    if (!stream.isOwn) return greatestStored(signals.endpoint, spanOf(stream, stream.lastId), signal);
    const mark = marks.throughOf(stream.instance);
    if (mark === null || mark < stream.firstId) return null;
    return stream.lastId !== null && mark > stream.lastId ? stream.lastId : mark;
  }

  /** Where a seal ends that has no more entries than it may; looked for near its beginning, however much there is behind. */
  async #boundedTo(
    span: MadeSpan,
    stored: bigint,
    signal: AbortSignal,
  ): Promise<{ readonly to: bigint; readonly isAll: boolean }> {
    const most = this.#isBusy ? SEAL_BUSY_ENTRIES : SEAL_MAX_ENTRIES;
    for (let lookMs = SEAL_END_LOOK_MS; ; lookMs *= 2) {
      const look = firstLogIdAt(logIdMs(span.after) + lookMs, span.instance);
      const through = look < stored ? look : stored;
      const bound = await idOfEntry(this.#options.signals.endpoint, { ...span, through }, most, signal);
      if (bound !== null && bound < stored) return { to: bound, isAll: false };
      if (through === stored) return { to: stored, isAll: true };
    }
  }

  async #rangeOf(stream: OpenStream, { to, revision }: Intent, signal: AbortSignal): Promise<SealedRange> {
    const span = spanOf(stream, to);
    return {
      span,
      revision,
      organizations: await organizationsIn(this.#options.signals.endpoint, span, signal),
    };
  }

  async #seal(stream: OpenStream, range: SealedRange, signal: AbortSignal): Promise<Notes[]> {
    const { finders, signals, metrics, now } = this.#options;
    const { span, revision, organizations } = range;
    const lastId = span.through ?? span.after;
    const found: Signal[] = [];
    const notes: Notes[] = [];
    let isAny = false;
    for (const finder of finders) {
      const own = await finder.find(range, signal);
      if (own === null) continue;
      isAny = true;
      for (const each of own.signals) found.push(each);
      if (own.note !== null) notes.push({ finder, note: own.note });
    }
    if (!isAny) return [];
    found.push({ organizationId: 0, kind: "seal", key: stream.id, bucketMs: 0, n: 0, lastId });
    const token = `${stream.id}:${stream.sealedId}-${lastId}:${revision}`;
    await insertSignals(signals, found, token, new Date(now()).toISOString().slice(0, 10), signal);
    metrics.signals.inc(found.length);
    metrics.entries.inc([...organizations.values()].reduce((sum, { entries }) => sum + entries, 0));
    return notes;
  }
}

/** Leaves the machine to whoever sends. */
async function rest(restMs: number, signal: AbortSignal): Promise<void> {
  await pause(restMs, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** What of the stream is not sealed, up to an id. */
function spanOf({ instance, sealedId }: OpenStream, through: bigint | null): MadeSpan {
  return { instance, after: sealedId, through };
}

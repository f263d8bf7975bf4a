/**
 * The write-ahead log: what `append` acknowledged survives the death of every process and a power cut, until it is
 * released. One process at a time; everything it needs from outside is in `WalOptions`.
 *
 * On disk:
 *
 *   <directory>/0000000000000000.wal   segments, named by the position of their first byte; nothing but records
 *   <directory>/ledger                 flushedThrough and intentEnd, in two slots written in turn
 *   <directory>/names          what the log is called outside, and the directory that the newest name was made for
 *   <directory>/reserve                ballast, given up when a full disk stands in the way of a release
 *   <directory>/keys/*.keys            the keys of released segments, as long as they are retained
 *   <directory>/damaged/*              copies of what could not be read
 *
 * The layout of a record is in `format.ts`, that of a ledger slot in `ledger-slot.ts`.
 *
 * Write: appends gather in a group; the group is written at the end of the newest segment and synced; then every append
 * in it is answered. Several records of one append are a group by themselves, and each says where it ends. A segment is appended to only by the
 * process that created it. After a refused write the segment is cut back to its durable end, the positions tried are
 * given up, and the next group begins a new segment. After a failed sync nothing is accepted any more.
 *
 * Read and release: the flusher reads on from `flushedThrough`, declares its intent, inserts, sets `flushedThrough`,
 * and releases segments wholly below. Below `recoveredEnd` it asks the store first what it has. A segment's keys are
 * durable in a key file before the segment is removed.
 *
 * Recovery: every record in the segments is checked. One wrong byte is set right. What cannot be read below the highest
 * position that was provably durable is damage: it is copied to `damaged/`, reported and passed over. What cannot be
 * read above it is the torn end of a write that nobody was told of: it is cut, with all records of its append, or, where
 * readable ones of the same write follow, replaced by a void record. The readable rest above it is written again and synced before it is trusted.
 *
 * Invariants, asserted or enforced where they could break:
 *
 *   1. A record starts at a multiple of 8, at `base of its segment + offset in the file`; positions only grow, stay
 *      below 2^53, and are never used for another record.
 *   2. Segments do not overlap: the base of one is at or above the end of the one before.
 *   3. 0 <= flushedThrough <= intentEnd <= durableEnd, and neither flushedThrough nor durableEnd ever goes back.
 *   4. A record is 64 bytes + keys + block, rounded up to a multiple of 8; those of an append are at most 32 MiB and at
 *      most one segment, and lie in one segment. A batch, an intent and `flushedThrough` never end within an append.
 *   5. A segment has at most `segmentBytes` bytes and 8 MiB of keys, so its key file fits the reserve.
 *   6. Unreleased and queued bytes together are at most `maxBytes`; queued bytes at most 64 MiB.
 *   7. A segment is removed only when its end is at or below `flushedThrough` and it is not appended to.
 *   8. A ledger write overwrites the slot that does not hold the last durable state.
 */
import { join } from "node:path";
import { appendBytesMax, assertAppend, assertOptions } from "./arguments.ts";
import { DurableSignal } from "./durable-signal.ts";
import { WalClosedError, WalRecordTooLargeError } from "./errors.ts";
import { guardLedger } from "./guarded-ledger.ts";
import { KeyFiles } from "./key-files.ts";
import { Ledger } from "./ledger.ts";
import { KEY_FILE_OVERHEAD_BYTES, SEGMENT_KEY_BYTES_MAX } from "./limits.ts";
import { LogNames } from "./names.ts";
import { nodeWalIo } from "./node-io.ts";
import { Reader } from "./reader.ts";
import { type Recovered, recover, type WalPaths } from "./recovery.ts";
import { Releaser } from "./releaser.ts";
import { Reserve } from "./reserve.ts";
import type { Segment } from "./segments.ts";
import type {
  WalAppend,
  WalBatch,
  WalKeys,
  WalLedger,
  WalOptions,
  WalRange,
  WalReadLimits,
  WalRecovery,
  WalStats,
} from "./types.ts";
import { Writer } from "./writer.ts";

/** Opens the log in its directory and recovers what is there; the result of that is `Wal.recovery`. */
export async function openWal(options: WalOptions): Promise<Wal> {
  assertOptions(options);
  const {
    directory,
    segmentBytes,
    maxBytes,
    keyRetentionMs,
    keysWantedSinceMs = () => 0,
    clock,
    onFatal,
    onDamage,
    io = nodeWalIo,
  } = options;
  const paths: WalPaths = { directory, keys: join(directory, "keys"), damaged: join(directory, "damaged") };
  const keyBytesMax = Math.min(SEGMENT_KEY_BYTES_MAX, segmentBytes);
  const reserve = new Reserve(io, directory, keyBytesMax + KEY_FILE_OVERHEAD_BYTES);
  const recovered = await recover(io, paths, reserve);
  await reserve.fill();

  const { segments, ledgerState, damagedRegions, ages, nextPosition } = recovered;
  const { identity } = ledgerState;
  const names = await LogNames.open(io, directory, reserve, { identity, nextPosition });
  const signal = new DurableSignal();
  const writer = new Writer({
    io,
    directory,
    segments,
    identity,
    maxBytes,
    segmentBytes,
    nextPosition,
    onDurable(durableEnd, oldestMs) {
      ages.add(durableEnd, oldestMs);
      signal.notify();
    },
    onFatal(error) {
      signal.notify();
      onFatal(error);
    },
  });
  const ledger = await Ledger.open(io, directory, ledgerState, (cause) => writer.fail(cause));
  const reader = new Reader({
    io,
    segments,
    identity,
    damagedRegions,
    durableEnd: () => writer.durableEnd,
    onDamage: (damage) => onDamage?.(damage),
  });
  const keyFiles = new KeyFiles(io, paths.keys, identity);
  const keyCutoffMs = () => Math.max(clock() - keyRetentionMs, keysWantedSinceMs());
  const releaser = new Releaser({
    io,
    directory,
    segments,
    keyFiles,
    reserve,
    reader,
    activeSegment: () => writer.activeSegment,
    flushedThrough: () => ledger.flushedThrough,
    keyCutoffMs,
  });
  return new Wal(options, {
    recovered,
    names,
    writer,
    reader,
    ledger,
    keyFiles,
    releaser,
    signal,
    keyCutoffMs,
  });
}

/** What `openWal` puts together. */
interface WalParts {
  readonly recovered: Recovered;
  readonly names: LogNames;
  readonly writer: Writer;
  readonly reader: Reader;
  readonly ledger: Ledger;
  readonly keyFiles: KeyFiles;
  readonly releaser: Releaser;
  readonly signal: DurableSignal;
  readonly keyCutoffMs: () => number;
}

/** An open log. Made by `openWal`. */
export class Wal {
  /** What the log is called, a copy otherwise than its original. */
  readonly names: LogNames;
  readonly maxBytes: number;
  /** How far the log was flushed. */
  readonly ledger: WalLedger;
  readonly #parts: WalParts;
  readonly #appendBytesMax: number;
  readonly #recoveredSegments: readonly Segment[];
  #closing: Promise<void> | undefined;

  constructor(options: WalOptions, parts: WalParts) {
    this.#parts = parts;
    this.#appendBytesMax = appendBytesMax(options.segmentBytes);
    this.#recoveredSegments = parts.recovered.segments.snapshot();
    this.names = parts.names;
    this.maxBytes = options.maxBytes;
    this.ledger = guardLedger({
      ledger: parts.ledger,
      durableEnd: () => this.durableEnd,
      assertOpen: () => this.#assertOpen(),
      onFlushed: (end) => parts.recovered.ages.advance(end),
    });
  }

  /** What opening found. */
  get recovery(): WalRecovery {
    return this.#parts.recovered.report;
  }

  /**
   * Where this process began to write. What lies between `flushedThrough` and here an earlier one left, and nobody knows
   * how much of it the store has: `intentEnd` is only as good as a ledger that nothing happened to.
   */
  get recoveredEnd(): number {
    return this.#parts.recovered.nextPosition;
  }

  /** Every record that ends at or below this position is durable. */
  get durableEnd(): number {
    return this.#parts.writer.durableEnd;
  }

  /** Bytes not yet released, those in the queue included. */
  get bytes(): number {
    return this.#parts.recovered.segments.bytes + this.queuedBytes;
  }

  /** Bytes that wait for the disk. */
  get queuedBytes(): number {
    return this.#parts.writer.queuedBytes;
  }

  /** When the oldest record that is durable and not flushed was received, epoch ms, to a second. */
  get oldestUnflushedMs(): number | undefined {
    return this.#parts.recovered.ages.oldestMs;
  }

  get stats(): WalStats {
    return { ...this.#parts.writer.stats, ...this.#parts.reader.stats };
  }

  /** The deduplication token of an insert: different for every range of every log, but for what a copy has of it. */
  token(start: number, end: number): string {
    return `${this.names.at(start)}:${start}-${end}`;
  }

  /**
   * Makes records durable together, so that after a crash all of them are there or none, and answers where they are.
   * Appends keep the order of the calls; the bytes are not to be touched before this has answered. Rejects with
   * WalFullError, WalWriteError (both retryable), WalFailedError, WalClosedError, WalRecordTooLargeError; what is rejected
   * is not in the log, except that after WalFailedError nobody knows.
   */
  append(...records: readonly WalAppend[]): Promise<WalRange> {
    assertAppend(records);
    const size = records.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (size > this.#appendBytesMax) {
      return Promise.reject(new WalRecordTooLargeError(size, this.#appendBytesMax));
    }
    return this.#parts.writer.append(records, size);
  }

  /**
   * The records from `position` on, in order: at least one append if there is one, otherwise within the limits; what was
   * appended together comes together. `position` is 0, `flushedThrough` or the `end` of an earlier batch; `through`, too,
   * is a position where an append ends. A batch ends where the log got another name.
   */
  async read(position: number, limits: WalReadLimits): Promise<WalBatch> {
    if (this.#closing !== undefined) throw new WalClosedError();
    const through = Math.min(limits.through ?? Number.POSITIVE_INFINITY, this.names.endAt(position));
    return this.#parts.reader.read(position, { ...limits, through });
  }

  /** Resolves once the durable end is above `position`. Rejects when the log closes or fails before. */
  async waitFor(position: number): Promise<void> {
    while (this.#parts.writer.durableEnd <= position) {
      this.#assertOpen();
      await this.#parts.signal.wait();
    }
  }

  /**
   * Removes the segments wholly below `through`, which is at most `flushedThrough`, and keys past their retention. Rejects
   * with WalWriteError when a segment could not be removed yet; call again later.
   */
  async release(through: number): Promise<void> {
    this.#assertOpen();
    if (!(through <= this.#parts.ledger.flushedThrough)) throw new RangeError(`${through} is not flushed`);
    await this.#parts.releaser.release(through);
  }

  /** The keys of records received within the retention before this process. Read it before the first `release`. */
  async *recoveredKeys(): AsyncGenerator<WalKeys> {
    const { keyFiles, keyCutoffMs } = this.#parts;
    const cutoffMs = keyCutoffMs();
    yield* keyFiles.readKept(cutoffMs);
    for (const segment of this.#recoveredSegments) yield* keyFiles.readSegment(segment, cutoffMs);
  }

  /** Refuses new appends, makes the queued ones durable, ends all waits and closes the files. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { writer, reader, ledger, releaser, signal } = this.#parts;
    await writer.close();
    signal.notify();
    await releaser.idle();
    await reader.close();
    await ledger.close();
  }

  #assertOpen(): void {
    const { failure } = this.#parts.writer;
    if (failure !== undefined) throw failure;
    if (this.#closing !== undefined) throw new WalClosedError();
  }
}

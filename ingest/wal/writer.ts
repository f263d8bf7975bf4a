import { join } from "node:path";
import { assertInvariant, WalClosedError, WalFailedError, WalFullError, WalWriteError } from "./errors.ts";
import { ALIGNMENT, sealRecord } from "./format.ts";
import { type WalFile, type WalIo, writeFully } from "./io.ts";
import { GROUP_BYTES, POSITION_MAX, QUEUE_BYTES_MAX, SEGMENT_KEY_BYTES_MAX } from "./limits.ts";
import { type Segment, type Segments, segmentEnd, segmentName } from "./segments.ts";
import { type Group, Staging } from "./staging.ts";
import type { WalAppend, WalRange } from "./types.ts";

interface WriterOptions {
  readonly io: WalIo;
  readonly directory: string;
  readonly segments: Segments;
  readonly identity: bigint;
  readonly maxBytes: number;
  readonly segmentBytes: number;
  /** Position of the first new record; every position below is taken or given up. */
  readonly nextPosition: number;
  /** After a sync: records received from `oldestMs` on now end at `durableEnd`. */
  readonly onDurable: (durableEnd: number, oldestMs: number) => void;
  readonly onFatal: (error: WalFailedError) => void;
}

/** The segment that is appended to, and its file. Only the process that created a segment ever appends to it. */
interface ActiveSegment {
  readonly segment: Segment;
  readonly file: WalFile;
}

/** Group commit: what arrives while one group is synced is written and synced together as the next. */
export class Writer {
  readonly #options: WriterOptions;
  readonly #staging: Staging;
  #active: ActiveSegment | undefined;
  #nextPosition: number;
  #durableEnd: number;
  #drain: Promise<void> | undefined;
  #closed = false;
  #failure: WalFailedError | undefined;
  readonly stats = { syncs: 0, recordsAppended: 0, bytesAppended: 0, recordsRejected: 0 };

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#staging = new Staging(Math.min(GROUP_BYTES, options.segmentBytes));
    this.#nextPosition = options.nextPosition;
    this.#durableEnd = options.nextPosition;
  }

  /** Position below which every record is durable. */
  get durableEnd(): number {
    return this.#durableEnd;
  }

  get queuedBytes(): number {
    return this.#staging.bytes;
  }

  get failure(): WalFailedError | undefined {
    return this.#failure;
  }

  /** The segment still written to, which must not be released. */
  get activeSegment(): Segment | undefined {
    return this.#active?.segment;
  }

  /** `bytes` are those of the records. */
  async append(records: readonly WalAppend[], bytes: number): Promise<WalRange> {
    try {
      this.#assertAccepting(bytes);
    } catch (error) {
      this.stats.recordsRejected += records.length;
      throw error;
    }
    const written = this.#staging.add(records, bytes);
    this.#drain ??= this.#drainQueue();
    return written;
  }

  /** Refuses further appends, writes what is queued and closes the file. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#drain;
    const active = this.#active;
    this.#active = undefined;
    await active?.file.close();
  }

  /** Makes the log fail for good: nobody knows what the disk holds. Later calls change nothing. */
  fail(cause: unknown): WalFailedError {
    if (this.#failure === undefined) {
      this.#failure = new WalFailedError(cause);
      this.#options.onFatal(this.#failure);
    }
    return this.#failure;
  }

  #assertAccepting(size: number): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closed) throw new WalClosedError();
    const { segments, maxBytes } = this.#options;
    if (segments.bytes + this.#staging.bytes + size > maxBytes) throw new WalFullError("log");
    if (this.#staging.bytes + size > QUEUE_BYTES_MAX) throw new WalFullError("queue");
  }

  async #drainQueue(): Promise<void> {
    // Lets the appends of the same turn join the first group.
    await Promise.resolve();
    for (let group = this.#staging.take(); group !== undefined; group = this.#staging.take()) {
      const failure = await this.#commit(group).catch((bug: unknown) => this.fail(bug));
      this.#staging.done(group);
      this.#answer(group, failure);
    }
    this.#drain = undefined;
  }

  /** Writes and syncs one group; returns why it failed. */
  async #commit(group: Group): Promise<unknown> {
    if (this.#failure !== undefined) return this.#failure;
    const start = this.#nextPosition;
    assertInvariant(start + group.bytes <= POSITION_MAX, 1, "positions are used up");
    let active: ActiveSegment;
    try {
      active = await this.#segmentFor(group, start);
    } catch (error) {
      // A file of this base may or may not exist now, so the base is given up.
      this.#nextPosition = start + ALIGNMENT;
      return this.#failure ?? new WalWriteError(error);
    }
    this.#nextPosition = start + group.bytes;
    try {
      await this.#write(group, active, start);
    } catch (error) {
      return await this.#cutBack(active, error);
    }
    try {
      await active.file.datasync();
    } catch (error) {
      return this.fail(error);
    }
    this.#advance(group, active.segment);
    return undefined;
  }

  /** Record by record, so that the thread computes a checksum of one at a time. */
  async #write({ appends }: Group, { file, segment }: ActiveSegment, start: number): Promise<void> {
    const { identity } = this.#options;
    let position = start;
    for (const { records, bytes } of appends) {
      const end = position + bytes;
      for (const record of records) {
        const next = position + record.bytes.length;
        const behind = records.length === 1 ? null : end - next;
        sealRecord(record, { position, identity, durableBefore: start, behind });
        await writeFully(file, record.bytes, position - segment.base);
        position = next;
      }
    }
  }

  #advance(group: Group, segment: Segment): void {
    this.#options.segments.grow(segment, group.bytes);
    segment.keyBytes += group.keyBytes;
    segment.newestMs = Math.max(segment.newestMs, group.newestMs);
    assertInvariant(segmentEnd(segment) === this.#nextPosition, 1, "a record is not where its position says");
    assertInvariant(this.#durableEnd <= this.#nextPosition, 3, "the durable end went back");
    this.#durableEnd = this.#nextPosition;
    this.stats.syncs++;
    this.stats.recordsAppended += recordsOf(group);
    this.stats.bytesAppended += group.bytes;
    this.#options.onDurable(this.#durableEnd, group.oldestMs);
  }

  #answer(group: Group, failure: unknown): void {
    if (failure !== undefined) {
      this.stats.recordsRejected += recordsOf(group);
      for (const append of group.appends) append.reject(failure);
      return;
    }
    let start = this.#durableEnd - group.bytes;
    for (const { bytes, resolve } of group.appends) {
      resolve({ start, end: start + bytes });
      start += bytes;
    }
  }

  async #segmentFor(group: Group, start: number): Promise<ActiveSegment> {
    const active = this.#active;
    if (active !== undefined) {
      const { bytes, keyBytes } = active.segment;
      const fits = bytes + group.bytes <= this.#options.segmentBytes;
      if (fits && keyBytes + group.keyBytes <= SEGMENT_KEY_BYTES_MAX) return active;
      this.#active = undefined;
      await active.file.close();
    }
    this.#active = await this.#createSegment(start);
    return this.#active;
  }

  /** A new file, durable in its directory before anything in it is acknowledged. */
  async #createSegment(base: number): Promise<ActiveSegment> {
    const { io, directory, segments } = this.#options;
    const path = join(directory, segmentName(base));
    const file = await io.open(path, "create");
    try {
      await io.syncDirectory(directory);
    } catch (error) {
      throw this.fail(error);
    }
    const segment: Segment = { base, path, bytes: 0, keyBytes: 0, newestMs: 0 };
    segments.add(segment);
    return { segment, file };
  }

  /**
   * After a refused write: the file ends again where the last acknowledged record ends, durably, so that recovery
   * never meets the rest. The positions tried are given up and the next group begins a new segment.
   */
  async #cutBack(active: ActiveSegment, cause: unknown): Promise<unknown> {
    const { io, directory, segments } = this.#options;
    this.#active = undefined;
    try {
      await active.file.truncate(active.segment.bytes);
      await active.file.sync();
      await active.file.close();
      if (active.segment.bytes === 0) {
        segments.remove(active.segment);
        await io.unlink(active.segment.path);
        await io.syncDirectory(directory);
      }
    } catch (error) {
      return this.fail(error);
    }
    return new WalWriteError(cause);
  }
}

function recordsOf({ appends }: Group): number {
  return appends.reduce((count, { records }) => count + records.length, 0);
}

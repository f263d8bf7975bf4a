import { BATCH_MAX_BYTES, JOIN_WAIT_MS } from "../limits.ts";
import type { ByteSource } from "./byte-source.ts";
import type { OpenSession, ShippedEntry } from "./entry-session.ts";
import { Findings } from "./findings.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { Position } from "./position.ts";
import { type Checkpoint, countEntry, type Tally } from "./tally.ts";

/** Entries for one request, and the places in the input between which they lie. */
export interface Batch {
  /** The texts of the entries; none where there is nothing to send of this part of the input. */
  entries: readonly string[];
  findings: Findings;
  start: Readonly<Position>;
  end: Checkpoint;
  /** The batch ended because the input did or rested, so more input would have made it another one. */
  isCut: boolean;
}

interface BatchOptions {
  source: ByteSource;
  from: Readonly<Position>;
  openSession: OpenSession;
  maxEntries: number;
  tally: Tally;
  /** Milliseconds after which an incomplete batch goes out although more input may come. */
  lingerMs: number;
  /** Entries whose own time is before this one, in milliseconds since 1970, are left out. */
  sinceMs: number | null;
  /** By which the last line of the input was written, in milliseconds since 1970. */
  yearReferenceMs: number;
}

/**
 * Cuts the input into batches. Where a batch ends depends on the bytes from its start on and nothing else, except at
 * the end of the input and after a linger.
 */
export async function* readBatches(options: BatchOptions): AsyncGenerator<Batch> {
  const { source, from, tally, lingerMs } = options;
  const splitter = new LineSplitter(source, from);
  const session = options.openSession(from, options.yearReferenceMs);
  const pending = new PendingBatch(from, options);
  for (;;) {
    while (splitter.next()) {
      if (splitter.start === splitter.end) tally.emptyLines++;
      for (const entry of session.take(splitter)) {
        if (pending.isFullFor(entry)) yield pending.finish(pending.position, false);
        pending.add(entry);
      }
    }
    if (splitter.ended) break;
    const filled = splitter.fill();
    // Inside a long line the input is not cut: where it ends is not known yet.
    if (!splitter.inLine && !(await settlesWithin(filled, lingerMs))) {
      // What is complete does not wait with what may go on.
      if (session.isWaiting && pending.hasEntries && pending.position.part === 0)
        yield pending.finish(pending.position, true);
      if (!session.isWaiting || !(await settlesWithin(filled, JOIN_WAIT_MS))) {
        for (const entry of session.flush(Date.now())) {
          if (pending.isFullFor(entry)) yield pending.finish(pending.position, true);
          pending.add(entry);
        }
        if (pending.hasEntries) yield pending.finish(session.position, true);
      }
    }
    await filled;
  }
  for (const entry of session.flush(null)) {
    if (pending.isFullFor(entry)) yield pending.finish(pending.position, true);
    pending.add(entry);
  }
  // Empty lines at the end are behind us too.
  if (pending.hasEntries || session.position.offset > pending.start.offset)
    yield pending.finish(session.position, true);
}

/** A batch as it fills. */
class PendingBatch {
  start: Readonly<Position>;
  /** Behind the entry that came last. */
  position: Readonly<Position>;
  readonly #options: BatchOptions;
  #entries: string[] = [];
  #findings = new Findings();
  #bytes = 0;

  constructor(from: Readonly<Position>, options: BatchOptions) {
    this.start = from;
    this.position = from;
    this.#options = options;
  }

  get hasEntries(): boolean {
    return this.#entries.length > 0;
  }

  isFullFor(entry: ShippedEntry): boolean {
    if (!this.hasEntries || this.#isLeftOut(entry)) return false;
    const { maxEntries } = this.#options;
    if (this.#entries.length >= maxEntries) return true;
    // A code unit is three bytes at the most: only near the bound does it have to be known.
    const most = entry.text.length * 3 + 1;
    return this.#bytes + most >= BATCH_MAX_BYTES && this.#bytes + sizeOf(entry) >= BATCH_MAX_BYTES;
  }

  add(entry: ShippedEntry): void {
    this.position = entry.after;
    if (this.#isLeftOut(entry)) {
      this.#options.tally.olderEntries++;
      return;
    }
    this.#entries.push(entry.text);
    this.#bytes += sizeOf(entry);
    this.#findings.add(entry);
    countEntry(this.#options.tally, entry);
  }

  finish(position: Readonly<Position>, isCut: boolean): Batch {
    const end = { position, tally: { ...this.#options.tally } };
    const batch = { entries: this.#entries, findings: this.#findings, start: this.start, end, isCut };
    this.start = position;
    this.position = position;
    this.#entries = [];
    this.#findings = new Findings();
    this.#bytes = 0;
    return batch;
  }

  #isLeftOut({ timeMs }: ShippedEntry): boolean {
    const { sinceMs } = this.#options;
    return sinceMs !== null && timeMs !== null && timeMs < sinceMs;
  }
}

/** With the comma, bracket or line feed before it. */
function sizeOf({ text }: ShippedEntry): number {
  return Buffer.byteLength(text) + 1;
}

/** True when the promise settles within the time. Its own outcome stays for whoever awaits it. */
async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  if (!Number.isFinite(ms)) return true;
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  try {
    return await Promise.race([promise.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

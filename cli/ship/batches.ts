import { CliError } from "../cli-error.ts";
import { BATCH_MAX_BYTES, MESSAGE_MAX_CHARS } from "../limits.ts";
import type { ByteSource } from "./byte-source.ts";
import { endOfCodePoints } from "./code-points.ts";
import type { EntryText, LineFormat } from "./entry-text.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { Position } from "./position.ts";
import type { Checkpoint, Tally } from "./tally.ts";

/** Entries for one request, and the places in the input between which they lie. */
export interface Batch {
  /** A JSON array. */
  body: string;
  start: Readonly<Position>;
  end: Checkpoint;
  /** The batch ended because the input did, so more input would have made it another one. */
  atInputEnd: boolean;
}

export interface BatchOptions {
  source: ByteSource;
  from: Readonly<Position>;
  format: LineFormat;
  entryText: EntryText;
  maxEntries: number;
  tally: Tally;
  /** Milliseconds after which an incomplete batch goes out although more input may come. */
  lingerMs: number;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const REPLACEMENT = "\ufffd";
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT);

/**
 * Cuts the input into batches. Where a batch ends depends on the bytes from its start on and nothing else, except at
 * the end of the input and after a linger.
 */
export async function* readBatches(options: BatchOptions): AsyncGenerator<Batch> {
  const { source, from, maxEntries, tally, lingerMs } = options;
  const splitter = new LineSplitter(source, from);
  let position: Position = { ...from };
  let start: Readonly<Position> = position;
  let entries: string[] = [];
  let bytes = 0;
  const finish = (atInputEnd: boolean): Batch => {
    const batch = {
      body: `[${entries.join(",")}]`,
      start,
      end: { position, tally: { ...tally } },
      atInputEnd,
    };
    start = position;
    entries = [];
    bytes = 0;
    return batch;
  };
  for (;;) {
    while (splitter.next()) {
      const before = position;
      const texts = entriesOfPiece(splitter, position, options);
      const size = texts.reduce((sum, text) => sum + text.length, 0);
      if (
        entries.length > 0 &&
        (entries.length + texts.length > maxEntries || bytes + size > BATCH_MAX_BYTES)
      ) {
        position = before;
        yield finish(false);
      }
      position = positionAfter(splitter, before, texts.length);
      entries.push(...texts);
      bytes += size;
    }
    if (splitter.ended) break;
    const filled = splitter.fill();
    if (entries.length > 0 && !(await settlesWithin(filled, lingerMs))) yield finish(false);
    await filled;
  }
  // Empty lines at the end are behind us too.
  if (entries.length > 0 || position.offset > start.offset) yield finish(true);
}

function positionAfter(piece: LineSplitter, before: Position, parts: number): Position {
  return {
    offset: piece.nextOffset,
    lineStart: piece.endsLine ? piece.nextOffset : piece.lineStart,
    part: piece.endsLine ? 0 : before.part + parts,
    line: before.line + (piece.endsLine ? 1 : 0),
  };
}

/** The entries, as JSON texts, that one piece of the input becomes. */
function entriesOfPiece(
  piece: LineSplitter,
  before: Position,
  { format, entryText, tally }: BatchOptions,
): string[] {
  if (piece.start === piece.end) {
    if (!piece.continued) tally.emptyLines++;
    return [];
  }
  if (piece.endsLine) tally.lines++;
  const isWhole = piece.endsLine && !piece.continued;
  if (isWhole && format !== "lines") {
    const native = entryText.ofNative(decoder.decode(piece.bytes.subarray(piece.start, piece.end)));
    if (native !== null) {
      tally.nativeLines++;
      tally.entries++;
      return [native];
    }
    if (format === "ndjson")
      throw new CliError(
        `line ${before.line + 1} is not a log entry; without --format ndjson it is shipped as text`,
      );
  }
  const texts = textsOf(piece, before, isWhole, entryText, tally);
  tally.entries += texts.length;
  return texts;
}

function textsOf(
  piece: LineSplitter,
  before: Position,
  isWhole: boolean,
  entryText: EntryText,
  tally: Tally,
): string[] {
  const texts: string[] = [];
  for (let at = piece.start; at < piece.end; ) {
    const cut = endOfCodePoints(piece.bytes, at, piece.end, MESSAGE_MAX_CHARS);
    const bytes = piece.bytes.subarray(at, cut);
    const text = decoder.decode(bytes);
    if (text.includes(REPLACEMENT) && !isValidUtf8(bytes, text)) tally.invalidUtf8Entries++;
    at = cut;
    if (isWhole && texts.length === 0 && at === piece.end) return [entryText.ofText(text)];
    const part = before.part + texts.length + 1;
    texts.push(
      entryText.ofText(text, { line: piece.lineStart, part, last: piece.endsLine && at === piece.end }),
    );
  }
  if (before.part === 0) tally.splitLines++;
  return texts;
}

/** A replacement character may have been in the input as such. */
function isValidUtf8(bytes: Uint8Array, text: string): boolean {
  return text.split(REPLACEMENT).length - 1 === countOf(bytes, REPLACEMENT_BYTES);
}

function countOf(bytes: Uint8Array, pattern: Buffer): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = buffer.indexOf(pattern); at >= 0; at = buffer.indexOf(pattern, at + pattern.length)) count++;
  return count;
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

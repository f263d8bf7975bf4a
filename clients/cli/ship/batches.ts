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

interface BatchOptions {
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
      if (splitter.start === splitter.end) {
        position = positionAfter(splitter, position, splitter.end);
        tally.emptyLines++;
      }
      for (const entry of entriesOfPiece(splitter, position, options)) {
        // With the comma or bracket before it.
        const size = Buffer.byteLength(entry.text) + 1;
        const isFull = entries.length >= maxEntries || bytes + size >= BATCH_MAX_BYTES;
        if (isFull && entries.length > 0) yield finish(false);
        position = entry.after;
        entries.push(entry.text);
        bytes += size;
        addToTally(tally, entry);
      }
    }
    if (splitter.ended) break;
    const filled = splitter.fill();
    if (entries.length > 0 && !(await settlesWithin(filled, lingerMs))) yield finish(false);
    await filled;
  }
  // Empty lines at the end are behind us too.
  if (entries.length > 0 || position.offset > start.offset) yield finish(true);
}

/** One entry made of a line or of a part of one. */
interface PieceEntry {
  /** JSON. */
  text: string;
  /** The place behind it. */
  after: Position;
  kind: "native" | "line" | "first part" | "later part";
  invalidUtf8: boolean;
}

function addToTally(tally: Tally, { after, kind, invalidUtf8 }: PieceEntry): void {
  tally.entries++;
  if (after.part === 0) tally.lines++;
  if (kind === "native") tally.nativeLines++;
  if (kind === "first part") tally.splitLines++;
  if (invalidUtf8) tally.invalidUtf8Entries++;
}

/** The place behind bytes[.., cut) of the piece. */
function positionAfter(piece: LineSplitter, before: Position, cut: number): Position {
  if (cut === piece.end && piece.endsLine)
    return { offset: piece.nextOffset, lineStart: piece.nextOffset, part: 0, line: before.line + 1 };
  const offset = piece.offset + cut - piece.start;
  return { offset, lineStart: piece.lineStart, part: before.part + 1, line: before.line };
}

/** The entries that one piece of the input becomes: none when it is empty. */
function entriesOfPiece(
  piece: LineSplitter,
  before: Position,
  { format, entryText }: BatchOptions,
): PieceEntry[] {
  if (piece.start === piece.end) return [];
  const isWhole = piece.endsLine && !piece.continued;
  if (isWhole && format !== "lines") {
    const text = entryText.ofNative(decoder.decode(piece.bytes.subarray(piece.start, piece.end)));
    const after = positionAfter(piece, before, piece.end);
    if (text !== null) return [{ text, after, kind: "native", invalidUtf8: false }];
  }
  if (format === "ndjson")
    throw new CliError(
      `line ${before.line + 1} is not a log entry; without --format ndjson it is shipped as text`,
    );
  return textsOf(piece, before, entryText);
}

function textsOf(piece: LineSplitter, before: Position, entryText: EntryText): PieceEntry[] {
  const entries: PieceEntry[] = [];
  let position = before;
  for (let at = piece.start; at < piece.end; ) {
    const cut = endOfCodePoints(piece.bytes, at, piece.end, MESSAGE_MAX_CHARS);
    const bytes = piece.bytes.subarray(at, cut);
    at = cut;
    const message = decoder.decode(bytes);
    const invalidUtf8 = message.includes(REPLACEMENT) && !isValidUtf8(bytes, message);
    const after = positionAfter(piece, position, cut);
    const isLast = after.part === 0;
    if (isLast && position.part === 0) {
      entries.push({ text: entryText.ofText(message), after, kind: "line", invalidUtf8 });
    } else {
      const part = position.part + 1;
      const text = entryText.ofText(message, { line: piece.lineStart, part, last: isLast });
      entries.push({ text, after, kind: part === 1 ? "first part" : "later part", invalidUtf8 });
    }
    position = after;
  }
  return entries;
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

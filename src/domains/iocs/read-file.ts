import { isUtf8 } from "node:buffer";
import { ThreadSlice } from "../../concurrency/thread-turns.ts";
import type { BroadReason } from "../../entities/indicators/broad-indicator.ts";
import { FILE_MAX_ROWS, REJECTED_MAX_SHOWN } from "../../entities/indicators/limits.ts";
import { FileProblem } from "../../kql/kept/delimited-rows.ts";
import { storableText } from "../../storage/storable-text.ts";
import { csvRows } from "./csv-rows.ts";
import type { FileRow } from "./file-row.ts";
import { JsonPart } from "./json-part.ts";
import { LastRows } from "./last-rows.ts";
import { mispRows } from "./misp.ts";
import { type FileIndicator, readRow } from "./read-row.ts";
import { stixRows } from "./stix.ts";

export const FILE_FORMATS = ["csv", "stix", "misp"] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

interface RejectedRow {
  readonly place: string;
  readonly value: string;
  readonly reason: string;
}

/** What a file comes to, of which only the bytes are in memory. */
export interface FileReading {
  readonly rows: number;
  /** Each indicator once. */
  readonly indicators: number;
  readonly rejected: number;
  /** The first of those that were rejected. */
  readonly errors: readonly RejectedRow[];
  /** The indicators, so many at a time; of one that is there several times the last. */
  readonly pieces: (most: number) => AsyncGenerator<readonly FileIndicator[], undefined>;
}

const SHOWN_VALUE_MAX_CHARS = 128;
/** Rows of JSON that are made at once. */
const PIECE_ROWS = 500;

/**
 * Looks a whole file through, in slices between which others have the thread, so that whoever takes its pieces, which are read once
 * more, knows before the first that all of it is of the format. `broad` says of which indicators it takes none. Throws FileProblem.
 */
export async function readFile(
  format: FileFormat,
  file: Uint8Array,
  broad: BroadReason = () => null,
): Promise<FileReading> {
  const rows = rowsOf(format, file);
  const last = new LastRows();
  const errors: RejectedRow[] = [];
  let [count, rejected] = [0, 0];
  const slice = new ThreadSlice();
  for await (const some of rows())
    for (const row of some) {
      if (count >= FILE_MAX_ROWS) throw new FileProblem(`The file has more than ${FILE_MAX_ROWS} rows.`);
      const reading = readRow(row);
      const read = typeof reading === "string" ? reading : (broad(reading) ?? reading);
      if (typeof read !== "string") last.add(`${read.type}\t${read.value}`, count);
      else if (rejected++ < REJECTED_MAX_SHOWN)
        errors.push({ place: row.place, value: shownValue(row.value), reason: read });
      count++;
      if (slice.isOver) await slice.yield();
    }
  const marks = last.marks(count);
  return {
    ...{ rows: count, indicators: last.size, rejected, errors },
    pieces: (most) => piecesOf(rows(), marks, most),
  };
}

/** Throws FileProblem for what is no text. */
export function requireText(file: Uint8Array): void {
  if (!isUtf8(file)) throw new FileProblem("The file is not text in UTF-8.");
}

async function* piecesOf(
  rows: AsyncIterable<readonly FileRow[]>,
  marks: Uint8Array,
  most: number,
): AsyncGenerator<readonly FileIndicator[], undefined> {
  let piece: FileIndicator[] = [];
  let place = 0;
  const slice = new ThreadSlice();
  for await (const some of rows)
    for (const row of some) {
      const read = marks[place++] === 1 ? readRow(row) : "";
      if (typeof read === "string") continue;
      piece.push(read);
      if (piece.length >= most) {
        yield piece;
        piece = [];
      }
      if (slice.isOver) await slice.yield();
    }
  if (piece.length > 0) yield piece;
}

/** The rows from the beginning, each time that somebody asks. Throws FileProblem. */
function rowsOf(format: FileFormat, file: Uint8Array): () => AsyncIterable<readonly FileRow[]> {
  if (format === "csv") return () => csvRows(file);
  const json = JsonPart.of(file);
  return () => inPieces(format === "stix" ? stixRows(json) : mispRows(json));
}

async function* inPieces(rows: Iterable<FileRow>): AsyncGenerator<readonly FileRow[], undefined> {
  let piece: FileRow[] = [];
  for (const row of rows) {
    piece.push(row);
    if (piece.length < PIECE_ROWS) continue;
    yield piece;
    piece = [];
  }
  yield piece;
}

function shownValue(value: string): string {
  return storableText(value.slice(0, SHOWN_VALUE_MAX_CHARS));
}

import { type IngestIssue, IngestRejectedError } from "../../errors.ts";
import { BATCH_MAX_ENTRIES, ISSUES_MAX_COUNT } from "../../limits.ts";
import type { LogBatch } from "../../log-batch.ts";
import { type Line, linesOf } from "../lines.ts";
import { NativeJsonDecoder } from "../native-json.ts";
import { explainNativeJson } from "../native-json-explain.ts";

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;

/**
 * Native entries, one a line: 1 to 500 of them, judged as strictly as the native array. Lines of white space do not
 * count. Throws IngestRejectedError with every problem; `path` begins with the position of the entry, as in an array, and
 * the message with the number of the line. One instance serves all requests, one after the other.
 */
export class NdjsonFormat {
  readonly #decoder = new NativeJsonDecoder();

  /** Appends the entries of `body` to the open request of `batch`, without those at the positions in `skip`. */
  decode(body: Uint8Array, batch: LogBatch, skip: ReadonlySet<number>): void {
    const lines = entryLines(body);
    if (skip.size === 0 && this.#decodeAll(lines, batch)) return;
    batch.rewindRequest();
    const plain = explainLines(lines).filter((_, position) => !skip.has(position));
    if (plain.length > 0 && !this.#decodeAll(plain, batch))
      throw new Error("the decoder refuses what the validation accepted");
  }

  #decodeAll(lines: readonly Line[], batch: LogBatch): boolean {
    // What is one array may still be no lines: an entry could begin in one line and end in another.
    return this.#decoder.decode(arrayOf(lines), batch) && batch.requestRows === lines.length;
  }
}

/** The lines that hold entries; throws when they are none or too many. */
function entryLines(body: Uint8Array): Line[] {
  const lines: Line[] = [];
  for (const line of linesOf(body)) {
    if (lines.length === BATCH_MAX_ENTRIES)
      throw rejected([
        { path: "", code: "too_big", message: `at most ${BATCH_MAX_ENTRIES} entries in a request` },
      ]);
    lines.push(line);
  }
  if (lines.length === 0)
    throw rejected([{ path: "", code: "too_small", message: "at least 1 entry is needed" }]);
  return lines;
}

/** The lines as one JSON array. */
function arrayOf(lines: readonly Line[]): Uint8Array {
  const array = new Uint8Array(lines.reduce((bytes, line) => bytes + line.bytes.length + 1, 1));
  let at = 0;
  for (const line of lines) {
    array[at] = at === 0 ? OPEN_BRACKET : COMMA;
    array.set(line.bytes, at + 1);
    at += line.bytes.length + 1;
  }
  array[at] = CLOSE_BRACKET;
  return array;
}

/** The same entries in plain form, a line each; throws when any of them is invalid. */
function explainLines(lines: readonly Line[]): Line[] {
  const issues: IngestIssue[] = [];
  const plain: Line[] = [];
  for (const [position, line] of lines.entries()) {
    if (issues.length >= ISSUES_MAX_COUNT) break;
    const found = explainLine(line, plain);
    for (const { path, code, message } of found)
      issues.push({ path: `/${position}${path}`, code, message: `line ${line.number}: ${message}` });
  }
  if (issues.length > 0) throw rejected(issues.slice(0, ISSUES_MAX_COUNT));
  return plain;
}

/** Appends the plain form of a line that is a valid entry, and answers what is wrong with one that is not. */
function explainLine({ number, bytes }: Line, plain: Line[]): readonly IngestIssue[] {
  try {
    const array = explainNativeJson(bytes);
    if (startsArray(bytes)) return [{ path: "", code: "invalid_type", message: "an entry is an object" }];
    plain.push({ number, bytes: array.subarray(1, -1) });
    return [];
  } catch (error) {
    if (error instanceof IngestRejectedError) return error.issues;
    throw error;
  }
}

function startsArray(bytes: Uint8Array): boolean {
  return bytes.find((byte) => byte > 0x20) === OPEN_BRACKET;
}

function rejected(issues: readonly IngestIssue[]): IngestRejectedError {
  return new IngestRejectedError("the log entries are not valid", issues);
}

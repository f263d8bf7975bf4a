/**
 * Measures one format, in a process of its own so that none is compiled for what others do. Argument: its name. Prints
 * one JSON line.
 */
import { LogBatch } from "../../ingest/index.ts";
import { makeEntries } from "../ingest/bodies.ts";
import { FORMATS, type FormatBench } from "./formats.ts";

const ROWS = 5_000;
const BATCH = 500;
/** Decoder and reference take turns, so that both see the same machine; the fastest round counts, as others use it too. */
const ROUNDS = 30;
const WARM_UP_ROUNDS = 8;

export interface DecodeResult {
  readonly format: string;
  readonly bytesPerRow: number;
  readonly rowsPerSecond: number;
  readonly megabytesPerSecond: number;
  readonly reference: string;
  readonly referenceMegabytesPerSecond: number;
  /** Speed as a part of the reference's. */
  readonly ofReference: number;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** What is done with the result, so that it is not optimised away. */
let consumed = 0;

const REFERENCES: Readonly<Record<FormatBench["reference"], (body: Uint8Array) => unknown>> = {
  "JSON.parse": (body) => JSON.parse(utf8.decode(body)),
  "a copy": (body) => body.slice(),
  "JSON.parse of each line": (body) =>
    utf8
      .decode(body)
      .split("\n")
      .map((line) => (line === "" ? null : JSON.parse(line))),
  "split into lines": (body) => utf8.decode(body).split("\n"),
};

function measure(format: FormatBench): DecodeResult {
  const entries = makeEntries(ROWS);
  const encoder = new TextEncoder();
  const bodies: Uint8Array[] = [];
  for (let from = 0; from < ROWS; from += BATCH) {
    const body = format.body(entries.slice(from, from + BATCH));
    bodies.push(typeof body === "string" ? encoder.encode(body) : body);
  }
  const bytes = bodies.reduce((sum, { length }) => sum + length, 0);
  const batch = new LogBatch();
  const reference = REFERENCES[format.reference];
  const decodeAll = (): void => {
    let rows = 0;
    for (const body of bodies) {
      batch.beginRequest(1, Date.now());
      format.decode(body, batch);
      rows += batch.requestRows;
      batch.keepRequest();
      batch.clear();
    }
    if (rows !== ROWS) throw new Error(`${format.name} made ${rows} entries of ${ROWS}`);
  };
  const referAll = (): void => {
    for (const body of bodies) consumed += reference(body) === null ? 0 : 1;
  };
  const decodeMs: number[] = [];
  const referenceMs: number[] = [];
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    const startMs = performance.now();
    decodeAll();
    const middleMs = performance.now();
    referAll();
    if (round < 0) continue;
    decodeMs.push(middleMs - startMs);
    referenceMs.push(performance.now() - middleMs);
  }
  const ms = Math.min(...decodeMs);
  const plainMs = Math.min(...referenceMs);
  return {
    format: format.name,
    bytesPerRow: Math.round(bytes / ROWS),
    rowsPerSecond: Math.round((ROWS / ms) * 1000),
    megabytesPerSecond: Math.round(bytes / ms / 1000),
    reference: format.reference,
    referenceMegabytesPerSecond: Math.round(bytes / plainMs / 1000),
    ofReference: Math.round((plainMs / ms) * 100) / 100,
  };
}

if (import.meta.main) {
  const format = FORMATS.find(({ name }) => name === process.argv[2]);
  if (format === undefined) throw new Error(`no format ${process.argv[2]}`);
  process.stdout.write(`${JSON.stringify(measure(format))}\n`);
  if (consumed === 0) throw new Error("the reference read nothing");
}

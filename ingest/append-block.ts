import type { LogBatch } from "./log-batch.ts";
import {
  BlockReader,
  type ElementEnds,
  type EncodedTexts,
  type IndexedTexts,
} from "./native/block-reader.ts";
import type { LowCardinalityColumn } from "./native/low-cardinality-column.ts";
import type { StringColumn } from "./native/string-column.ts";

/** Rows that follow one another: `from` and those up to `to`. */
type Run = readonly [from: number, to: number];

/**
 * Appends the entries of a block that `LogBatch.writeTo` wrote to the open request of `batch`, without those at the
 * positions in `skip`. They belong to the request then: its organisation and time of receipt are theirs, the batch
 * gives them their ids. Whole columns are copied, which takes a small part of the time that decoding takes.
 */
export function appendBlock(batch: LogBatch, block: Uint8Array, skip: ReadonlySet<number>): void {
  const reader = new BlockReader(block);
  if (reader.rows === 0) return;
  const runs = keptRuns(reader.rows, skip);
  const { rows } = batch;
  fixedColumn(reader, 4);
  appendFixed(batch.ts, fixedColumn(reader, 8), runs, 8);
  fixedColumn(reader, 8);
  fixedColumn(reader, 8);
  appendFixed(batch.level, fixedColumn(reader, 1), runs, 1);
  for (const column of [batch.service, batch.source, batch.host]) {
    reader.columnName();
    appendIndexed(column, reader.indexedTexts(), runs);
  }
  appendTexts(batch.message, textColumn(reader), runs);
  for (const column of [batch.traceId, batch.spanId]) {
    const texts = textColumn(reader);
    if (isAllEmpty(texts, reader.rows)) continue;
    // Filled up at the end of the request only, because most requests have none.
    column.fillTo(rows);
    appendTexts(column, texts, runs);
  }
  appendTexts(batch.eventId, textColumn(reader), runs);
  appendAttributes(batch, reader, runs);
  batch.endRows(runs.reduce((count, [from, to]) => count + to - from, 0));
}

/** What is left of `rows` rows without those in `skip`. */
function keptRuns(rows: number, skip: ReadonlySet<number>): readonly Run[] {
  const runs: Run[] = [];
  let from = 0;
  for (const row of [...skip].toSorted((a, b) => a - b)) {
    if (row > from) runs.push([from, row]);
    from = row + 1;
  }
  if (from < rows) runs.push([from, rows]);
  return runs;
}

function appendAttributes(batch: LogBatch, reader: BlockReader, runs: readonly Run[]): void {
  const { attrs, attrJsonKeys } = batch;
  reader.columnName();
  reader.indexedPrefix();
  const pairEnds = reader.elementEnds();
  const pairs = pairEnds[reader.rows - 1] ?? 0;
  const pairRuns = elementRuns(pairEnds, runs);
  const firstPair = attrs.keys.rows;
  appendIndexed(attrs.keys, reader.indexedData(pairs), pairRuns);
  appendTexts(attrs.values, reader.texts(pairs), pairRuns);
  appendEnds(attrs, firstPair, pairEnds, runs);
  reader.columnName();
  reader.indexedPrefix();
  const keyEnds = reader.elementEnds();
  const firstKey = attrJsonKeys.elements.rows;
  const keys = reader.indexedData(keyEnds[reader.rows - 1] ?? 0);
  appendIndexed(attrJsonKeys.elements, keys, elementRuns(keyEnds, runs));
  appendEnds(attrJsonKeys, firstKey, keyEnds, runs);
}

/** The runs of elements that belong to runs of rows. */
function elementRuns(ends: ElementEnds, runs: readonly Run[]): readonly Run[] {
  return runs.map(([from, to]) => [startOf(ends, from), startOf(ends, to)]);
}

function startOf(ends: ElementEnds, row: number): number {
  return row === 0 ? 0 : (ends[row - 1] ?? 0);
}

/** Ends the rows of a container whose elements, from `first` on, have been appended. */
function appendEnds(
  column: { endRowAt(end: number): void },
  first: number,
  ends: ElementEnds,
  runs: readonly Run[],
): void {
  let kept = first;
  for (const [from, to] of runs) {
    const shift = kept - startOf(ends, from);
    for (let row = from; row < to; row++) column.endRowAt((ends[row] ?? 0) + shift);
    kept = startOf(ends, to) + shift;
  }
}

function fixedColumn(reader: BlockReader, width: number): Uint8Array {
  reader.columnName();
  const { buffer, byteOffset, byteLength } = reader.fixed(width);
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function appendFixed(
  column: { appendBytes(bytes: Uint8Array): void },
  bytes: Uint8Array,
  runs: readonly Run[],
  width: number,
): void {
  for (const [from, to] of runs) column.appendBytes(bytes.subarray(from * width, to * width));
}

function appendIndexed(column: LowCardinalityColumn, texts: IndexedTexts, runs: readonly Run[]): void {
  const numbers = column.numbersOf(texts.texts);
  for (const [from, to] of runs) column.appendIndexed(numbers, texts.indexes, from, to);
}

function textColumn(reader: BlockReader): EncodedTexts {
  reader.columnName();
  return reader.texts();
}

function appendTexts(column: StringColumn, texts: EncodedTexts, runs: readonly Run[]): void {
  for (const [from, to] of runs) column.appendRows(texts, from, to);
}

/** An empty text is nothing but its length. */
function isAllEmpty({ start, ends }: EncodedTexts, rows: number): boolean {
  return (ends[rows - 1] ?? start) - start === rows;
}

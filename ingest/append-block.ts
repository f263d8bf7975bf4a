import { CommittedBlock } from "./committed-block.ts";
import type { LogBatch } from "./log-batch.ts";
import type { EntryTexts } from "./masking/entry-texts.ts";
import {
  BlockReader,
  type ElementEnds,
  type EncodedTexts,
  type IndexedTexts,
} from "./native/block-reader.ts";
import type { LowCardinalityColumn } from "./native/low-cardinality-column.ts";
import type { StringColumn } from "./native/string-column.ts";

/** Rows that follow one another: `from` and those up to `to`; or one, whose texts are those of an entry instead. */
type Run = readonly [from: number, to: number, texts?: EntryTexts | undefined];

const NOTHING: ReadonlyMap<number, EntryTexts> = new Map();

/** Appends the entries of a block that `LogBatch.writeTo` wrote, without those at the positions in `skip`; see `appendEntries`. */
export function appendBlock(batch: LogBatch, block: Uint8Array, skip: ReadonlySet<number>): void {
  if (new BlockReader(block).rows > 0) appendEntries(batch, new CommittedBlock(block), skip);
}

/**
 * Appends entries to the open request of `batch`, without those at the positions in `skip`. They belong to the request then:
 * its organisation and time of receipt are theirs, the batch gives them their ids. Whole columns are copied, which takes a
 * small part of the time that decoding takes. Entries in `replaced`, by their positions, have these texts instead of
 * their own.
 */
export function appendEntries(
  batch: LogBatch,
  entries: CommittedBlock,
  skip: ReadonlySet<number>,
  replaced: ReadonlyMap<number, EntryTexts> = NOTHING,
): void {
  const runs = keptRuns(entries.rows, skip, replaced);
  const { rows } = batch;
  const { details } = entries;
  appendFixed(batch.ts, entries.tsBytes, runs, 8);
  appendFixed(batch.level, entries.levelBytes, runs, 1);
  for (const name of ["service", "source", "host"] as const)
    appendIndexed(batch[name], entries[name], runs, name);
  appendTexts(batch.message, entries.message, runs, "message");
  for (const name of ["traceId", "spanId"] as const) {
    const texts = details[name];
    if (isAllEmpty(texts, entries.rows)) continue;
    // Filled up at the end of the request only, because most requests have none.
    batch[name].fillTo(rows);
    appendTexts(batch[name], texts, runs, name);
  }
  appendTexts(batch.eventId, details.eventId, runs, "event_id");
  appendAttributes(batch, details, runs);
  batch.endRows(runs.reduce((count, [from, to]) => count + to - from, 0));
}

/** What is left of `rows` rows without those in `skip`; those in `replaced` by themselves. */
function keptRuns(
  rows: number,
  skip: ReadonlySet<number>,
  replaced: ReadonlyMap<number, EntryTexts>,
): readonly Run[] {
  const runs: Run[] = [];
  let from = 0;
  for (const row of new Set([...skip, ...replaced.keys()].toSorted((a, b) => a - b))) {
    if (row > from) runs.push([from, row]);
    const texts = skip.has(row) ? undefined : replaced.get(row);
    if (texts !== undefined) runs.push([row, row + 1, texts]);
    from = row + 1;
  }
  if (from < rows) runs.push([from, rows]);
  return runs;
}

function appendAttributes(
  batch: LogBatch,
  { attrs: pairs, attrJsonKeys: json }: CommittedBlock["details"],
  runs: readonly Run[],
): void {
  const { attrs, attrJsonKeys } = batch;
  const firstPair = attrs.keys.rows;
  const numbers = attrs.keys.numbersOf(pairs.keys.texts);
  for (const [from, to, texts] of elementRuns(pairs.ends, runs))
    if (texts === undefined) {
      attrs.keys.appendIndexed(numbers, pairs.keys.indexes, from, to);
      attrs.values.appendRows(pairs.values, from, to);
    } else
      for (const { key, text } of texts.attributes) {
        attrs.keys.append(key);
        attrs.values.append(text);
      }
  appendEnds(attrs, firstPair, pairs.ends, runs, (texts) => texts.attributes.length);
  const firstKey = attrJsonKeys.elements.rows;
  const keyNumbers = attrJsonKeys.elements.numbersOf(json.elements.texts);
  for (const [from, to, texts] of elementRuns(json.ends, runs))
    if (texts === undefined) attrJsonKeys.elements.appendIndexed(keyNumbers, json.elements.indexes, from, to);
    else for (const key of jsonKeysOf(texts)) attrJsonKeys.elements.append(key);
  appendEnds(attrJsonKeys, firstKey, json.ends, runs, (texts) => jsonKeysOf(texts).length);
}

function jsonKeysOf({ attributes }: EntryTexts): string[] {
  return attributes.filter(({ isJson }) => isJson).map(({ key }) => key);
}

/** The runs of elements that belong to runs of rows. */
function elementRuns(ends: ElementEnds, runs: readonly Run[]): readonly Run[] {
  return runs.map(([from, to, texts]) => [startOf(ends, from), startOf(ends, to), texts]);
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
  countOf: (texts: EntryTexts) => number,
): void {
  let kept = first;
  for (const [from, to, texts] of runs) {
    if (texts !== undefined) {
      kept += countOf(texts);
      column.endRowAt(kept);
      continue;
    }
    const shift = kept - startOf(ends, from);
    for (let row = from; row < to; row++) column.endRowAt((ends[row] ?? 0) + shift);
    kept = startOf(ends, to) + shift;
  }
}

function appendFixed(
  column: { appendBytes(bytes: Uint8Array): void },
  bytes: Uint8Array,
  runs: readonly Run[],
  width: number,
): void {
  for (const [from, to] of runs) column.appendBytes(bytes.subarray(from * width, to * width));
}

function appendIndexed(
  column: LowCardinalityColumn,
  { texts, indexes }: IndexedTexts,
  runs: readonly Run[],
  name: "service" | "source" | "host",
): void {
  const numbers = column.numbersOf(texts);
  for (const [from, to, instead] of runs)
    if (instead === undefined) column.appendIndexed(numbers, indexes, from, to);
    else column.append(instead[name]);
}

function appendTexts(
  column: StringColumn,
  texts: EncodedTexts,
  runs: readonly Run[],
  name: "message" | "traceId" | "spanId" | "event_id",
): void {
  for (const [from, to, instead] of runs)
    if (instead === undefined) column.appendRows(texts, from, to);
    else column.append(instead[name]);
}

/** An empty text is nothing but its length. */
function isAllEmpty({ start, ends }: EncodedTexts, rows: number): boolean {
  return (ends[rows - 1] ?? start) - start === rows;
}

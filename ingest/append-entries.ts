import { type EntryColumns, type EntryDetails, elementsStart } from "./entry-columns.ts";
import type { LogBatch } from "./log-batch.ts";
import type { EntryTexts } from "./masking/entry-texts.ts";
import { firstAbove } from "./masking/text-places.ts";
import type { ElementEnds, EncodedTexts, IndexedTexts } from "./native/block-reader.ts";
import type { LowCardinalityColumn } from "./native/low-cardinality-column.ts";
import type { StringColumn } from "./native/string-column.ts";

/** Rows that follow one another: `from` and those up to `to`; or one, whose texts are those of an entry instead. */
type Run = readonly [from: number, to: number, texts?: EntryTexts | undefined];

/** What some texts of a column are instead: their places, in ascending order, and for each the new one. */
export interface NewTexts {
  readonly places: readonly number[];
  readonly texts: readonly string[];
}

/** What entries have instead of some of their texts. */
export interface ChangedTexts {
  /** By their positions, all texts of some of them. */
  readonly replaced: ReadonlyMap<number, EntryTexts>;
  /** Messages of the others. */
  readonly messages: NewTexts;
  /** Texts of attributes of the others, by their places among the attributes of all. */
  readonly values: NewTexts;
}

const NONE: NewTexts = { places: [], texts: [] };
export const UNCHANGED: ChangedTexts = { replaced: new Map(), messages: NONE, values: NONE };

/**
 * Appends entries to the open request of `batch`, without those at the positions in `skip`. They belong to the request then:
 * its organisation and time of receipt are theirs, the batch gives them their ids. Whole columns are copied, which takes a
 * small part of the time that decoding takes.
 */
export function appendEntries(
  batch: LogBatch,
  entries: EntryColumns,
  skip: ReadonlySet<number>,
  { replaced, messages, values }: ChangedTexts = UNCHANGED,
): void {
  const runs = keptRuns(entries.rows, skip, replaced);
  const { rows } = batch;
  const { details } = entries;
  appendFixed(batch.ts, entries.tsBytes, runs, 8);
  appendFixed(batch.level, entries.levelBytes, runs, 1);
  for (const name of ["service", "source", "host"] as const)
    appendIndexed(batch[name], entries[name], runs, name);
  appendTexts(batch.message, entries.message, runs, "message", messages);
  for (const name of ["traceId", "spanId"] as const) {
    const texts = details[name];
    if (isAllEmpty(texts)) continue;
    // Filled up at the end of the request only, because most requests have none.
    batch[name].fillTo(rows);
    appendTexts(batch[name], texts, runs, name);
  }
  appendTexts(batch.eventId, details.eventId, runs, "event_id");
  appendAttributes(batch, details, runs, values);
  batch.endRows(runs.reduce((count, [from, to]) => count + to - from, 0));
}

/** Appends texts, some of them new. */
export function appendChanged(column: StringColumn, texts: EncodedTexts, changed: NewTexts): void {
  appendChangedOf(column, texts, [0, texts.count], changed);
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
  { attrs: pairs, attrJsonKeys: json }: EntryDetails,
  runs: readonly Run[],
  values: NewTexts,
): void {
  const { attrs, attrJsonKeys } = batch;
  const firstPair = attrs.keys.rows;
  const appendKeys = attrs.keys.appenderOf(pairs.keys);
  for (const [from, to, texts] of elementRuns(pairs.ends, runs))
    if (texts === undefined) {
      appendKeys(from, to);
      appendChangedOf(attrs.values, pairs.values, [from, to], values);
    } else
      for (const { key, text } of texts.attributes) {
        attrs.keys.append(key);
        attrs.values.append(text);
      }
  appendEnds(attrs, firstPair, pairs.ends, runs, (texts) => texts.attributes.length);
  const firstKey = attrJsonKeys.elements.rows;
  const appendJsonKeys = attrJsonKeys.elements.appenderOf(json.elements);
  for (const [from, to, texts] of elementRuns(json.ends, runs))
    if (texts === undefined) appendJsonKeys(from, to);
    else for (const key of jsonKeysOf(texts)) attrJsonKeys.elements.append(key);
  appendEnds(attrJsonKeys, firstKey, json.ends, runs, (texts) => jsonKeysOf(texts).length);
}

/** Appends the texts at the places `from` to `to`. */
function appendChangedOf(
  column: StringColumn,
  texts: EncodedTexts,
  [from, to]: readonly [from: number, to: number],
  { places, texts: changed }: NewTexts,
): void {
  const { data } = column;
  let kept = from;
  // What is masked is nearly always the same text, which is copied from where it was written last.
  let latest: string | null = null;
  let latestStart = 0;
  let latestBytes = 0;
  for (let i = places.length === 0 ? 0 : firstAbove(places, from - 1); (places[i] ?? to) < to; i++) {
    const place = places[i] ?? to;
    const text = changed[i] ?? "";
    column.appendRows(texts, kept, place);
    kept = place + 1;
    if (text === latest) {
      const start = data.length;
      column.appendEncoded(data.bytes, latestStart, latestStart + latestBytes, 1);
      latestStart = start;
      continue;
    }
    latest = text;
    latestStart = data.length;
    column.append(text);
    latestBytes = data.length - latestStart;
  }
  column.appendRows(texts, kept, to);
}

function jsonKeysOf({ attributes }: EntryTexts): string[] {
  return attributes.filter(({ isJson }) => isJson).map(({ key }) => key);
}

/** The runs of elements that belong to runs of rows. */
function elementRuns(ends: ElementEnds, runs: readonly Run[]): readonly Run[] {
  return runs.map(([from, to, texts]) => [elementsStart(ends, from), elementsStart(ends, to), texts]);
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
    const shift = kept - elementsStart(ends, from);
    for (let row = from; row < to; row++) column.endRowAt((ends[row] ?? 0) + shift);
    kept = elementsStart(ends, to) + shift;
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
  entries: IndexedTexts,
  runs: readonly Run[],
  name: "service" | "source" | "host",
): void {
  const append = column.appenderOf(entries);
  for (const [from, to, instead] of runs)
    if (instead === undefined) append(from, to);
    else column.append(instead[name]);
}

function appendTexts(
  column: StringColumn,
  texts: EncodedTexts,
  runs: readonly Run[],
  name: "message" | "traceId" | "spanId" | "event_id",
  changed: NewTexts = NONE,
): void {
  for (const [from, to, instead] of runs)
    if (instead === undefined) appendChangedOf(column, texts, [from, to], changed);
    else column.append(instead[name]);
}

/** An empty text is nothing but its length. */
function isAllEmpty({ start, end, count }: EncodedTexts): boolean {
  return end - start === count;
}

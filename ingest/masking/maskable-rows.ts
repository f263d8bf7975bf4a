import { type CommittedBlock, textAt } from "../committed-block.ts";
import type { IndexedTexts, TextSlices } from "../native/block-reader.ts";
import { literalsHint } from "./hints.ts";
import { MASKABLE_COLUMNS, type Mask } from "./mask.ts";
import type { MaskPattern } from "./mask-pattern.ts";
import { MASK_PATTERNS, type MaskPatternName } from "./patterns.ts";

/** In JSON any character can be written so: what it is shows when it is parsed. */
const ESCAPE = "\\u";
const OPENING_BRACE = 0x7b;
const OPENING_BRACKET = 0x5b;
const SPACE = 0x20;
const ESCAPES = { hint: literalsHint([ESCAPE]) };

/** Says which entries of a block a mask may find something in: one look at all texts for each pattern. */
export class MaskableRows {
  readonly #block: CommittedBlock;
  readonly #found = new Map<MaskPatternName, Uint8Array>();

  constructor(block: CommittedBlock) {
    this.#block = block;
  }

  /** 1 for every such row. */
  of({ fields, patterns }: Mask): Uint8Array {
    const rows = this.#rowsWithFields(fields);
    for (const name of patterns) {
      const found = this.#rowsOf(name);
      for (let row = 0; row < rows.length; row++) rows[row] = (rows[row] ?? 0) | (found[row] ?? 0);
    }
    return rows;
  }

  #rowsWithFields(fields: readonly string[]): Uint8Array {
    const { rows, details, message } = this.#block;
    const found = new Uint8Array(rows);
    if (fields.some((field) => MASKABLE_COLUMNS.some((column) => column === field))) return found.fill(1);
    lookInTexts(membersHint(fields), message, (row) => {
      if (mayBeObject(message, row)) found[row] = 1;
    });
    const { keys, ends } = details.attrs;
    const jsonKeys = new Set(details.attrJsonKeys.elements.texts);
    const isNamed = keys.texts.map((key) =>
      fields.some((field) => field === key || (jsonKeys.has(key) && field.startsWith(`${key}.`))),
    );
    if (!isNamed.includes(true)) return found;
    for (let row = 0, at = 0; row < rows; row++)
      for (; at < (ends[row] ?? 0); at++) if (isNamed[keys.indexes[at] ?? 0] === true) found[row] = 1;
    return found;
  }

  #rowsOf(name: MaskPatternName): Uint8Array {
    let rows = this.#found.get(name);
    if (rows === undefined) {
      rows = this.#look(MASK_PATTERNS[name]);
      this.#found.set(name, rows);
    }
    return rows;
  }

  #look(pattern: MaskPattern): Uint8Array {
    const block = this.#block;
    const { attrs, eventId } = block.details;
    const rows = new Uint8Array(block.rows);
    const mark = (row: number): void => {
      rows[row] = 1;
    };
    const markElement = (element: number): void => mark(firstAbove(attrs.ends, element));
    findInTexts(pattern, block.message, mark);
    findInTexts(pattern, eventId, mark);
    findInTexts(pattern, attrs.values, markElement);
    lookInTexts(ESCAPES, attrs.values, markElement);
    for (const column of [block.service, block.source, block.host]) lookInNames(pattern, column, mark);
    lookInNames(pattern, attrs.keys, markElement);
    return rows;
  }
}

/** Places of what a message that is JSON has where it has one of the fields. */
function membersHint(fields: readonly string[]): Pick<MaskPattern, "hint"> {
  if (fields.length === 0) return { hint: () => {} };
  const ends = fields.map((field) => `${field.slice(field.lastIndexOf(".") + 1)}"`);
  return { hint: literalsHint([...new Set(ends), ESCAPE]) };
}

/** Whether a text begins as an object of JSON, or with white space. */
function mayBeObject({ bytes, starts }: TextSlices, row: number): boolean {
  const first = bytes[starts[row] ?? 0] ?? 0;
  return first === OPENING_BRACE || first <= SPACE;
}

/** Marks texts in which the pattern finds something, and JSON in which it may: what members are called matters too. */
function findInTexts(pattern: MaskPattern, slices: TextSlices, mark: (at: number) => void): void {
  let latest = -1;
  lookInTexts(pattern, slices, (text) => {
    if (text === latest) return;
    latest = text;
    const first = slices.bytes[slices.starts[text] ?? 0];
    if (first === OPENING_BRACE || first === OPENING_BRACKET || pattern.find(textAt(slices, text)).length > 0)
      mark(text);
  });
}

/** Calls `hit` for texts that hold a place of the hint. */
function lookInTexts(
  { hint }: Pick<MaskPattern, "hint">,
  { bytes, starts, ends }: TextSlices,
  hit: (text: number) => void,
): void {
  const from = starts[0] ?? 0;
  const to = ends.at(-1) ?? 0;
  // A byte a text, its length, is all there is where every text is empty.
  if (to - from < starts.length) return;
  hint(Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from), (at) => {
    const text = firstAbove(starts, from + at) - 1;
    if (text >= 0) hit(text);
  });
}

/** Of few distinct texts each is looked at. */
function lookInNames(
  { find, isSecretName }: MaskPattern,
  { texts, indexes }: IndexedTexts,
  mark: (at: number) => void,
): void {
  const isFound = texts.map((text) => isSecretName?.(text) === true || find(text).length > 0);
  if (!isFound.includes(true)) return;
  for (let at = 0; at < indexes.length; at++) if (isFound[indexes[at] ?? 0] === true) mark(at);
}

/** The first index whose value is above `value`; the length where none is. */
function firstAbove(ascending: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

import type { RecordWriter } from "../../record/record-writer.ts";
import { CEF_KEYS, type CefKey, CUSTOM_COUNT, TAKEN_NAMES } from "./cef-dictionary.ts";
import type { CefExtension } from "./cef-extension.ts";
import { isSame } from "./cef-key-table.ts";
import { isJsonNumber } from "./cef-values.ts";
import { type ByteRange, type CefUnescaper, emptyRange } from "./unescape.ts";

const SPACE = 0x20;
const NONE = -1;

/**
 * The custom fields of one message after the other: `cs1=block` with `cs1Label=Rule` becomes the attribute `Rule`. A
 * field keeps its own name where it has no label, or one that another attribute of the message has as its name.
 */
export class CustomFields {
  /** By the number of the field: the pair with its value, the pair with its label. */
  readonly #pairs = new Int32Array(CUSTOM_COUNT).fill(NONE);
  readonly #labelPairs = new Int32Array(CUSTOM_COUNT).fill(NONE);
  /** The label of each field of the present message that has become a name. */
  readonly #labels: readonly ByteRange[] = Array.from({ length: CUSTOM_COUNT }, emptyRange);
  readonly #value = emptyRange();
  #isEmpty = true;

  clear(): void {
    if (this.#isEmpty) return;
    this.#isEmpty = true;
    this.#pairs.fill(NONE);
    this.#labelPairs.fill(NONE);
    for (const label of this.#labels) label.end = label.start;
  }

  /** Adds a pair whose key is that of a custom field or of its label; of a key given again the first pair stays. */
  add({ custom, labels }: CefKey, pair: number): void {
    this.#isEmpty = false;
    const pairs = custom >= 0 ? this.#pairs : this.#labelPairs;
    const number = custom >= 0 ? custom : labels;
    if (pairs[number] === NONE) pairs[number] = pair;
  }

  write(writer: RecordWriter, source: Uint8Array, extension: CefExtension, unescaper: CefUnescaper): void {
    if (this.#isEmpty) return;
    const value = this.#value;
    for (let number = 0; number < CUSTOM_COUNT; number++) {
      const pair = this.#pairs[number] ?? NONE;
      const labelPair = this.#labelPairs[number] ?? NONE;
      const label = this.#labels[number];
      if (label === undefined || (pair === NONE && labelPair === NONE)) continue;
      if (labelPair !== NONE) {
        unescaper.read(source, extension.valueStart(labelPair), extension.valueEnd(labelPair), true, label);
        trim(label);
      }
      const isName = pair !== NONE && this.#isFree(label, number, source, extension);
      if (label.end > label.start && !isName)
        writeUnder(writer, keyAt(source, extension, labelPair), label, false);
      if (pair === NONE) {
        label.end = label.start;
        continue;
      }
      unescaper.read(source, extension.valueStart(pair), extension.valueEnd(pair), true, value);
      const key = keyAt(source, extension, pair);
      const isNumber = isJsonNumber(value, key?.kind ?? "text");
      if (!isName) {
        label.end = label.start;
        writeUnder(writer, key, value, isNumber);
      } else {
        const { bytes, start, end } = label;
        writer.attributeBytes(bytes, start, end, value.bytes, value.start, value.end, isNumber);
      }
    }
  }

  #isFree(label: ByteRange, number: number, source: Uint8Array, extension: CefExtension): boolean {
    const { bytes, start, end } = label;
    if (start === end || TAKEN_NAMES.get(bytes, start, end) !== undefined) return false;
    for (let other = 0; other < number; other++) {
      const used = this.#labels[other];
      if (used !== undefined && isSame(used.bytes, used.start, used.end, bytes, start, end)) return false;
    }
    for (let pair = 0; pair < extension.count; pair++)
      if (isSame(source, extension.keyStart(pair), extension.keyEnd(pair), bytes, start, end)) return false;
    return true;
  }
}

/** What the dictionary says about a pair's key, which it has. */
function keyAt(source: Uint8Array, extension: CefExtension, pair: number): CefKey | undefined {
  return CEF_KEYS.get(source, extension.keyStart(pair), extension.keyEnd(pair));
}

function writeUnder(
  writer: RecordWriter,
  key: CefKey | undefined,
  value: ByteRange,
  isNumber: boolean,
): void {
  if (key === undefined) return;
  const { nameBytes } = key;
  writer.attributeBytes(nameBytes, 0, nameBytes.length, value.bytes, value.start, value.end, isNumber);
}

function trim(range: ByteRange): void {
  while (range.start < range.end && range.bytes[range.start] === SPACE) range.start++;
  while (range.end > range.start && range.bytes[range.end - 1] === SPACE) range.end--;
}

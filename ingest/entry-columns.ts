import { LEVEL_NUMBERS } from "./log-batch.ts";
import {
  type ElementEnds,
  type EncodedTexts,
  type IndexedTexts,
  type TextSlices,
  textAt,
} from "./native/block-reader.ts";

export { type TextSlices, textAt } from "./native/block-reader.ts";

/** Names of levels by their numbers; empty for none. */
export const LEVEL_NAMES = ["", ...Object.keys(LEVEL_NUMBERS)];

/** Everything the entries have behind their messages. */
export interface EntryDetails {
  readonly traceId: EncodedTexts;
  readonly spanId: EncodedTexts;
  readonly eventId: EncodedTexts;
  readonly attrs: { readonly keys: IndexedTexts; readonly values: EncodedTexts; readonly ends: ElementEnds };
  readonly attrJsonKeys: { readonly elements: IndexedTexts; readonly ends: ElementEnds };
}

/** The attributes of an entry, as the store holds them: keys, their texts, and those whose text is JSON. */
type EntryAttributes = readonly [
  keys: readonly string[],
  texts: readonly string[],
  jsonKeys: readonly string[],
];

/** Columns as they lie in memory. */
export interface ColumnSlices {
  readonly rows: number;
  /** 8 bytes a row. */
  readonly ts: DataView;
  /** A byte a row. */
  readonly levels: DataView;
  readonly service: IndexedTexts;
  readonly source: IndexedTexts;
  readonly host: IndexedTexts;
  readonly message: EncodedTexts;
  /** Asked at most once, when an entry is wanted whole. */
  readonly details: () => EntryDetails;
}

/** What entries have in common before and after they are stored, column by column: everything that a sender gives. */
export class EntryColumns {
  readonly rows: number;
  readonly service: IndexedTexts;
  readonly source: IndexedTexts;
  readonly host: IndexedTexts;
  readonly message: EncodedTexts;
  readonly #ts: DataView;
  readonly #levels: DataView;
  readonly #readDetails: () => EntryDetails;
  #details: EntryDetails | undefined;

  constructor({ rows, ts, levels, service, source, host, message, details }: ColumnSlices) {
    this.rows = rows;
    this.#ts = ts;
    this.#levels = levels;
    this.service = service;
    this.source = source;
    this.host = host;
    this.message = message;
    this.#readDetails = details;
  }

  /** The column `ts` as it is stored, 8 bytes a row. */
  get tsBytes(): Uint8Array {
    return bytesOf(this.#ts);
  }

  /** The column `level` as it is stored, a byte a row. */
  get levelBytes(): Uint8Array {
    return bytesOf(this.#levels);
  }

  /** Nanoseconds since 1970. */
  ts(row: number): bigint {
    return this.#ts.getBigInt64(row * 8, true);
  }

  /** The same as milliseconds since 1970 and the nanoseconds beyond them. */
  time(row: number): { readonly millis: number; readonly nanos: number } {
    // 2^32 ns are 4294 ms and 967 296 ns; the rest of the sum stays below 2^53.
    const high = this.#ts.getInt32(row * 8 + 4, true);
    const rest = high * 967_296 + this.#ts.getUint32(row * 8, true);
    const restMillis = Math.floor(rest / 1_000_000);
    return { millis: high * 4294 + restMillis, nanos: rest - restMillis * 1_000_000 };
  }

  /** Empty for an entry without a level; so are the other texts. */
  level(row: number): string {
    return LEVEL_NAMES[this.levelNumber(row)] ?? "";
  }

  /** As `LEVEL_NUMBERS` has it; 0 for an entry without a level. */
  levelNumber(row: number): number {
    return this.#levels.getUint8(row);
  }

  messageText(row: number): string {
    return textAt(this.message, row);
  }

  traceId(row: number): string {
    return textAt(this.details.traceId, row);
  }

  spanId(row: number): string {
    return textAt(this.details.spanId, row);
  }

  eventId(row: number): string {
    return textAt(this.details.eventId, row);
  }

  attributes(row: number): EntryAttributes {
    const { attrs, attrJsonKeys } = this.details;
    const keys: string[] = [];
    const texts: string[] = [];
    const jsonKeys: string[] = [];
    for (let i = elementsStart(attrs.ends, row); i < (attrs.ends[row] ?? 0); i++) {
      keys.push(indexedText(attrs.keys, i));
      texts.push(textAt(attrs.values, i));
    }
    for (let i = elementsStart(attrJsonKeys.ends, row); i < (attrJsonKeys.ends[row] ?? 0); i++)
      jsonKeys.push(indexedText(attrJsonKeys.elements, i));
    return [keys, texts, jsonKeys];
  }

  get details(): EntryDetails {
    this.#details ??= this.#readDetails();
    return this.#details;
  }
}

/** The text of a row or element. */
export function indexedText({ texts, indexes }: IndexedTexts, at: number): string {
  return texts[indexes[at] ?? 0] ?? "";
}

/** Whether a row or element has this text, of ASCII alone. */
export function holdsText({ bytes, starts, ends }: TextSlices, at: number, text: string): boolean {
  const start = starts[at] ?? 0;
  if ((ends[at] ?? 0) - start !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false;
  return true;
}

function bytesOf({ buffer, byteOffset, byteLength }: DataView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Where the elements of a row begin. */
export function elementsStart(ends: ElementEnds, row: number): number {
  return row === 0 ? 0 : (ends[row - 1] ?? 0);
}

import { LEVEL_NUMBERS } from "./log-batch.ts";
import {
  BlockReader,
  type ElementEnds,
  type EncodedTexts,
  type IndexedTexts,
  textAt,
} from "./native/block-reader.ts";

export { type TextSlices, textAt } from "./native/block-reader.ts";

const LEVEL_NAMES = ["", ...Object.keys(LEVEL_NUMBERS)];

/** Everything the entries have behind their messages. */
interface EntryDetails {
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

/**
 * The entries of a committed batch, column by column, as they will be in the table `logs`. Reading one costs what the
 * columns up to the message cost; the rest is looked into when an entry is wanted whole.
 */
export class CommittedBlock {
  readonly rows: number;
  readonly service: IndexedTexts;
  readonly source: IndexedTexts;
  readonly host: IndexedTexts;
  readonly message: EncodedTexts;
  readonly #reader: BlockReader;
  readonly #organizations: DataView;
  readonly #ts: DataView;
  readonly #ids: DataView;
  readonly #receivedAt: DataView;
  readonly #levels: DataView;
  #details: EntryDetails | undefined;

  /** Throws a RangeError or TypeError for bytes that are not a block of log entries. */
  constructor(block: Uint8Array) {
    const reader = new BlockReader(block);
    this.#reader = reader;
    this.rows = reader.rows;
    this.#organizations = named(reader, "organization_id").fixed(4);
    this.#ts = named(reader, "ts").fixed(8);
    this.#ids = named(reader, "id").fixed(8);
    this.#receivedAt = named(reader, "received_at").fixed(8);
    this.#levels = named(reader, "level").fixed(1);
    this.service = named(reader, "service").indexedTexts();
    this.source = named(reader, "source").indexedTexts();
    this.host = named(reader, "host").indexedTexts();
    this.message = named(reader, "message").texts();
  }

  /** The column `ts` as it is stored, 8 bytes a row. */
  get tsBytes(): Uint8Array {
    return bytesOf(this.#ts);
  }

  /** The column `level` as it is stored, a byte a row. */
  get levelBytes(): Uint8Array {
    return bytesOf(this.#levels);
  }

  organizationId(row: number): number {
    return this.#organizations.getUint32(row * 4, true);
  }

  id(row: number): bigint {
    return this.#ids.getBigUint64(row * 8, true);
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

  /** Milliseconds since 1970. */
  receivedAt(row: number): bigint {
    return this.#receivedAt.getBigInt64(row * 8, true);
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
    this.#details ??= readDetails(this.#reader);
    return this.#details;
  }
}

/** The text of a row or element. */
export function indexedText({ texts, indexes }: IndexedTexts, at: number): string {
  return texts[indexes[at] ?? 0] ?? "";
}

function readDetails(reader: BlockReader): EntryDetails {
  const traceId = named(reader, "trace_id").texts();
  const spanId = named(reader, "span_id").texts();
  const eventId = named(reader, "event_id").texts();
  named(reader, "attrs").indexedPrefix();
  const attrEnds = reader.elementEnds();
  const attrCount = attrEnds[reader.rows - 1] ?? 0;
  const keys = reader.indexedData(attrCount);
  const values = reader.texts(attrCount);
  named(reader, "attr_json_keys").indexedPrefix();
  const jsonEnds = reader.elementEnds();
  const elements = reader.indexedData(jsonEnds[reader.rows - 1] ?? 0);
  return {
    traceId,
    spanId,
    eventId,
    attrs: { keys, values, ends: attrEnds },
    attrJsonKeys: { elements, ends: jsonEnds },
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: DataView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function elementsStart(ends: ElementEnds, row: number): number {
  return row === 0 ? 0 : (ends[row - 1] ?? 0);
}

/** The reader, once the next column is the one that the caller knows how to read. */
function named(reader: BlockReader, name: string): BlockReader {
  const found = reader.columnName();
  if (found !== name) throw new TypeError(`the block has the column ${found} where ${name} should be`);
  return reader;
}

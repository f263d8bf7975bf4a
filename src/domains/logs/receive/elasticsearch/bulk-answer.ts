import {
  type BulkItem,
  type ElasticsearchBulk,
  IngestRejectedError,
  type RecordDecoder,
  type RecordWriter,
} from "../../../../../ingest/index.ts";

/**
 * Bytes of the items of one answer. It repeats the index and the id of every action, which packs a body of a few
 * kilobytes into an answer of many megabytes; 100 000 actions of a name of usual length stay below it.
 */
const ITEMS_MAX_BYTES = 24 * 1024 * 1024;
const MIB = 1024 * 1024;
/** Of an item beside its names and reason: what `itemAnswer` writes around them, and a comma. */
const ITEM_BYTES = 130;
/** Of an id that the server gives: the position after that of the request. */
const POSITION_BYTES = 8;

/** Decodes a bulk request whose answer has a bounded size; before anything is stored, that is known. */
export class AnsweredBulk implements RecordDecoder {
  readonly format: string;
  readonly #bulk: ElasticsearchBulk;
  readonly #requestId: string;
  readonly #reserve: (bytes: number) => void;
  #items: readonly BulkItem[] = [];
  #hasReserved = false;

  /** `reserve` counts the bytes of the answer; it may throw. */
  constructor(bulk: ElasticsearchBulk, requestId: string, reserve: (bytes: number) => void) {
    this.format = bulk.format;
    this.#bulk = bulk;
    this.#requestId = requestId;
    this.#reserve = reserve;
  }

  /** What became of the actions, in their order. */
  get items(): readonly BulkItem[] {
    return this.#items;
  }

  /** Throws also an IngestRejectedError when the answer would be too large. */
  decode(body: Uint8Array, writer: RecordWriter): void {
    this.#bulk.decode(body, writer);
    this.take(this.#bulk.items);
  }

  /** Takes the items of a body that was decoded elsewhere; throws as `decode` does. */
  take(items: readonly BulkItem[]): void {
    const bytes = itemsBytes(items, this.#requestId);
    if (bytes > ITEMS_MAX_BYTES) {
      const message = `the answer would take more than ${ITEMS_MAX_BYTES / MIB} MiB, send fewer actions or shorter names`;
      throw new IngestRejectedError(message, [{ path: "", code: "too_big", message }]);
    }
    // The items are in memory themselves and as their text. A body that is decoded again has the same ones.
    if (!this.#hasReserved) this.#reserve(2 * bytes);
    this.#hasReserved = true;
    this.#items = items;
  }
}

function itemsBytes(items: readonly BulkItem[], requestId: string): number {
  let bytes = 0;
  let index = "";
  let indexBytes = jsonBytes(index);
  const newIdBytes = jsonBytes(requestId) + POSITION_BYTES;
  for (const item of items) {
    if (item.index !== index) indexBytes = jsonBytes(item.index);
    index = item.index;
    bytes +=
      ITEM_BYTES + indexBytes + (item.id === null ? newIdBytes : jsonBytes(item.id)) + refusalBytes(item);
  }
  return bytes;
}

function refusalBytes({ refusal }: BulkItem): number {
  return refusal === null ? 0 : jsonBytes(refusal);
}

/** Escapes and UTF-8 included. */
function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}

import {
  type BulkItemKind,
  type ElasticsearchBulk,
  IngestRejectedError,
  jsonBytes,
  type PackedItems,
  packItems,
  type RecordDecoder,
  type RecordWriter,
} from "../../../../../ingest/index.ts";

/**
 * Bytes of the items of one answer. It repeats the index and the id of every action, which packs a body of a few
 * kilobytes into an answer of many megabytes; 100 000 actions of a name of usual length stay below it.
 */
const ITEMS_MAX_BYTES = 24 * 1024 * 1024;
const MIB = 1024 * 1024;
/** Of an item beside its names and reason: what is written around them, and a comma. */
const ITEM_BYTES = 130;
/** Of an id that the server gives: the position after that of the request. */
const POSITION_BYTES = 8;
/** Of an item in memory: its kind, and about what an id takes beside its text. */
const HELD_BYTES = 24;

const NO_ITEMS = packItems([]);

/** Decodes a bulk request whose answer has a bounded size; before anything is stored, that is known. */
export class AnsweredBulk implements RecordDecoder {
  readonly format: string;
  readonly #bulk: ElasticsearchBulk;
  readonly #requestId: string;
  readonly #reserve: (bytes: number) => void;
  #items = NO_ITEMS;
  #hasReserved = false;

  /** `reserve` counts what the items take until they are answered; it may throw. */
  constructor(bulk: ElasticsearchBulk, requestId: string, reserve: (bytes: number) => void) {
    this.format = bulk.format;
    this.#bulk = bulk;
    this.#requestId = requestId;
    this.#reserve = reserve;
  }

  /** Whether any action was refused. */
  get hasErrors(): boolean {
    return this.#items.kinds.some(({ refusal }) => refusal !== null);
  }

  /** At most what the items take in the answer. */
  get bytes(): number {
    return itemsBytes(this.#items, this.#requestId);
  }

  /** Throws also an IngestRejectedError when the answer would be too large. */
  decode(body: Uint8Array, writer: RecordWriter): void {
    this.#bulk.decode(body, writer);
    this.take(packItems(this.#bulk.items));
  }

  /** Takes the items of a body that was decoded elsewhere; throws as `decode` does. */
  take(items: PackedItems): void {
    if (itemsBytes(items, this.#requestId) > ITEMS_MAX_BYTES) {
      const message = `the answer would take more than ${ITEMS_MAX_BYTES / MIB} MiB, send fewer actions or shorter names`;
      throw new IngestRejectedError(message, [{ path: "", code: "too_big", message }]);
    }
    // A body that is decoded again has the same ones.
    if (!this.#hasReserved) this.#reserve(items.kindOf.length * HELD_BYTES + items.idBytes);
    this.#hasReserved = true;
    this.#items = items;
  }

  /** The answer in Elasticsearch's words, item by item: all of it at once would hold everybody else up. */
  *texts(tookMs: number): Generator<string, undefined> {
    const { kinds, kindOf, ids } = this.#items;
    yield `{"took":${tookMs},"errors":${this.hasErrors},"items":[`;
    const parts = kinds.map(itemParts);
    for (const [position, number] of kindOf.entries()) {
      const [before, behind] = parts[number] ?? ["", ""];
      const id = JSON.stringify(ids[position] ?? `${this.#requestId}-${position}`);
      yield `${position === 0 ? "" : ","}${before}${id}${behind}`;
    }
    yield "]}";
  }
}

/** What Elasticsearch says of such an item before and behind its id. */
function itemParts({ action, index, refusal }: BulkItemKind): readonly [string, string] {
  const before = `{"${action}":{"_index":${JSON.stringify(index)},"_id":`;
  return [before, `,${JSON.stringify(outcomeOf(action, refusal)).slice(1)}}`];
}

function outcomeOf(action: BulkItemKind["action"], refusal: string | null): object {
  if (refusal === null) {
    const shards = { total: 1, successful: 1, failed: 0 };
    return { _version: 1, result: "created", _shards: shards, status: 201 };
  }
  const type =
    action === "create" || action === "index" ? "document_parsing_exception" : "illegal_argument_exception";
  return { status: 400, error: { type, reason: refusal } };
}

function itemsBytes({ kinds, kindOf, idBytes, idCount }: PackedItems, requestId: string): number {
  const sizes = kinds.map(
    ({ index, refusal }) => ITEM_BYTES + jsonBytes(index) + (refusal === null ? 0 : jsonBytes(refusal)),
  );
  const newIdBytes = jsonBytes(requestId) + POSITION_BYTES;
  let bytes = idBytes + (kindOf.length - idCount) * newIdBytes;
  for (const number of kindOf) bytes += sizes[number] ?? 0;
  return bytes;
}

import { type CommittedBlock, type EntryColumns, indexedText, textAt } from "../../ingest/index.ts";
import type { MatchRow } from "../../query/index.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** An entry that is perhaps not stored yet, by the public names of the columns that a sender gives. */
export class EntryRow implements MatchRow {
  readonly #entries: EntryColumns;
  readonly #row: number;

  constructor(entries: EntryColumns, row: number) {
    this.#entries = entries;
    this.#row = row;
  }

  text(column: string): string {
    const block = this.#entries;
    const row = this.#row;
    switch (column) {
      case "level":
        return block.level(row);
      case "service":
        return indexedText(block.service, row);
      case "source":
        return indexedText(block.source, row);
      case "host":
        return indexedText(block.host, row);
      case "message":
        return block.messageText(row);
      case "event_id":
        return block.eventId(row);
      case "traceId":
        return block.traceId(row);
      case "spanId":
        return block.spanId(row);
      default:
        throw new TypeError(`no column of texts: ${column}`);
    }
  }

  integer(column: string): bigint {
    if (column === "ts") return this.#entries.ts(this.#row);
    throw new TypeError(`no column of numbers: ${column}`);
  }

  attribute(key: string): { readonly text: string; readonly isJson: boolean } | null {
    const { attrs, attrJsonKeys } = this.#entries.details;
    const at = findElement(attrs.keys, attrs.ends, this.#row, key);
    if (at === -1) return null;
    const isJson = findElement(attrJsonKeys.elements, attrJsonKeys.ends, this.#row, key) !== -1;
    return { text: textAt(attrs.values, at), isJson };
  }
}

/** A row of a committed batch. */
export class BlockRow extends EntryRow {
  readonly #stored: CommittedBlock;
  readonly #at: number;

  constructor(block: CommittedBlock, row: number) {
    super(block, row);
    this.#stored = block;
    this.#at = row;
  }

  override integer(column: string): bigint {
    if (column === "receivedAt") return this.#stored.receivedAt(this.#at) * NANOS_PER_MILLI;
    return column === "id" ? this.#stored.id(this.#at) : super.integer(column);
  }
}

/** Where the element stands among those of the row; -1 when it does not. */
function findElement(
  { texts, indexes }: EntryColumns["service"],
  ends: ArrayLike<number>,
  row: number,
  element: string,
): number {
  const end = ends[row] ?? 0;
  for (let at = row === 0 ? 0 : (ends[row - 1] ?? 0); at < end; at++)
    if (texts[indexes[at] ?? 0] === element) return at;
  return -1;
}

import { type CommittedBlock, indexedText, textAt } from "../../ingest/index.ts";
import type { MatchRow } from "../../query/index.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** A row of a committed batch, by the public names of the columns. */
export class BlockRow implements MatchRow {
  readonly #block: CommittedBlock;
  readonly #row: number;

  constructor(block: CommittedBlock, row: number) {
    this.#block = block;
    this.#row = row;
  }

  text(column: string): string {
    const block = this.#block;
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
    switch (column) {
      case "ts":
        return this.#block.ts(this.#row);
      case "receivedAt":
        return this.#block.receivedAt(this.#row) * NANOS_PER_MILLI;
      case "id":
        return this.#block.id(this.#row);
      default:
        throw new TypeError(`no column of numbers: ${column}`);
    }
  }

  attribute(key: string): { readonly text: string; readonly isJson: boolean } | null {
    const { attrs, attrJsonKeys } = this.#block.details;
    const at = findElement(attrs.keys, attrs.ends, this.#row, key);
    if (at === -1) return null;
    const isJson = findElement(attrJsonKeys.elements, attrJsonKeys.ends, this.#row, key) !== -1;
    return { text: textAt(attrs.values, at), isJson };
  }
}

/** Where the element stands among those of the row; -1 when it does not. */
function findElement(
  { texts, indexes }: CommittedBlock["service"],
  ends: ArrayLike<number>,
  row: number,
  element: string,
): number {
  const end = ends[row] ?? 0;
  for (let at = row === 0 ? 0 : (ends[row - 1] ?? 0); at < end; at++)
    if (texts[indexes[at] ?? 0] === element) return at;
  return -1;
}

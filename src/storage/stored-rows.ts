import type { MemoryShare } from "../concurrency/memory-share.ts";

export type Row = readonly unknown[];

/** What is read of an answer. */
interface RowsBounds {
  /** Bytes after which no further row is taken; the first row always is. */
  readonly maxBytes: number;
  /** Bytes of one row: it is parsed at once, during which nothing else happens. */
  readonly maxRowBytes: number;
}

const NEWLINE = 10;

/** A row is longer than may be. */
export class RowTooLongError extends Error {}

/**
 * Rows as the store wrote them, each a JSON array on a line of its own. They are kept as bytes, which count as long as
 * they are there, and parsed one by one as they are read, which is possible once.
 */
export class StoredRows implements Iterable<Row> {
  readonly #memory: MemoryShare;
  /** Whole lines. */
  #blocks: Uint8Array[] = [];
  #count = 0;
  #bytes = 0;
  #isCut = false;

  private constructor(memory: MemoryShare) {
    this.#memory = memory;
  }

  /** Rows that were taken, read or not. */
  get count(): number {
    return this.#count;
  }

  /** Bytes that are held for them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether there were more than the bounds allow. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /**
   * Takes the rows of a body as it arrives. Throws RowTooLongError, what `MemoryShare.take` throws, and what the body
   * does; nothing is held then.
   */
  static async read(
    body: ReadableStream<Uint8Array>,
    memory: MemoryShare,
    bounds: RowsBounds,
  ): Promise<StoredRows> {
    const rows = new StoredRows(memory);
    let carried: Uint8Array[] = [];
    let carriedBytes = 0;
    try {
      for await (const chunk of body) {
        memory.take(chunk.length);
        rows.#bytes += chunk.length;
        const end = chunk.lastIndexOf(NEWLINE) + 1;
        if (end > 0) {
          rows.#take(Buffer.concat([...carried, chunk.subarray(0, end)]), bounds.maxRowBytes);
          carried = [];
          carriedBytes = 0;
        }
        carried.push(chunk.subarray(end));
        carriedBytes += chunk.length - end;
        if (carriedBytes > bounds.maxRowBytes) throw new RowTooLongError();
        if (rows.#count > 0 && rows.#bytes > bounds.maxBytes) {
          rows.#isCut = true;
          rows.#giveBack(carriedBytes);
          return rows;
        }
      }
    } catch (error) {
      rows.discard();
      throw error;
    }
    return rows;
  }

  /** Gives back what has not been read. */
  discard(): void {
    this.#blocks = [];
    this.#giveBack(this.#bytes);
  }

  *[Symbol.iterator](): Generator<Row> {
    try {
      for (let block = this.#blocks.shift(); block !== undefined; block = this.#blocks.shift()) {
        for (const line of linesOf(block)) yield readRow(line);
        this.#giveBack(block.length);
      }
    } finally {
      this.discard();
    }
  }

  #take(block: Uint8Array, maxRowBytes: number): void {
    let start = 0;
    for (let end = block.indexOf(NEWLINE); end !== -1; end = block.indexOf(NEWLINE, start)) {
      if (end - start > maxRowBytes) throw new RowTooLongError();
      start = end + 1;
      this.#count++;
    }
    this.#blocks.push(block);
  }

  #giveBack(bytes: number): void {
    this.#bytes -= bytes;
    this.#memory.giveBack(bytes);
  }
}

function* linesOf(block: Uint8Array): Generator<string> {
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    yield bytes.toString("utf8", start, end);
    start = end + 1;
  }
}

/** Throws a TypeError for anything that is not a row of the format JSONCompactEachRow. */
function readRow(line: string): Row {
  const row: unknown = JSON.parse(line);
  if (!Array.isArray(row)) throw new TypeError("the log store answered in another format");
  return row;
}

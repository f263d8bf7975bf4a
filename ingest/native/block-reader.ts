/** A byte order mark at the start of a text is a character of it. */
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Where the texts of a column lie: row by row, `bytes[starts[row], ends[row])`. */
export interface TextSlices {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** A column of texts, each behind its length; those of a row begin where those of the row before end. */
export interface EncodedTexts extends TextSlices {
  /** Where the first text's length begins. */
  readonly start: number;
  /** Where the last text ends. */
  readonly end: number;
  readonly count: number;
}

/** A column of few distinct texts: these, and for every row which of them it has. */
export interface IndexedTexts {
  readonly texts: readonly string[];
  readonly indexes: ArrayLike<number>;
}

/** For every row where its elements end; the first row's begin at 0. */
export type ElementEnds = ArrayLike<number>;

/**
 * Reads what `writeBlock` writes, one column after the other, in the order of the table. Throws a RangeError when the
 * bytes end early. Texts are slices of the block as long as nobody needs them.
 */
export class BlockReader {
  readonly rows: number;
  readonly columns: number;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(block: Uint8Array) {
    this.#bytes = block;
    this.#view = new DataView(block.buffer, block.byteOffset, block.byteLength);
    this.columns = this.#varUint();
    this.rows = this.#varUint();
  }

  /** Reads the head of the next column and answers its name. */
  columnName(): string {
    const name = this.#text();
    this.#text();
    return name;
  }

  /** A column of `width` bytes a row. */
  fixed(width: number): DataView {
    const start = this.#take(this.rows * width);
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + start, this.rows * width);
  }

  texts(count = this.rows): EncodedTexts {
    const bytes = this.#bytes;
    const start = this.#at;
    const { starts, ends } = sliceTexts(bytes, start, count);
    const end = ends[count - 1] ?? start;
    this.#at = end;
    if (end > bytes.length) throw new RangeError("the block ends within a text");
    return { bytes, start, end, count, starts, ends };
  }

  /** LowCardinality: its prefix and its data. */
  indexedTexts(): IndexedTexts {
    this.indexedPrefix();
    return this.indexedData(this.rows);
  }

  indexedPrefix(): void {
    this.#take(8);
  }

  indexedData(count: number): IndexedTexts {
    if (count === 0) return { texts: [], indexes: [] };
    const width = 1 << (this.#bytes[this.#take(8)] ?? 0);
    const size = this.#uint64();
    const texts: string[] = [];
    for (let i = 0; i < size; i++) texts.push(this.#text());
    this.#take(8);
    const start = this.#take(count * width);
    // Copied, because a typed array begins at a multiple of its width.
    const raw = this.#bytes.slice(start, this.#at);
    if (width === 1) return { texts, indexes: raw };
    return { texts, indexes: width === 2 ? new Uint16Array(raw.buffer) : new Uint32Array(raw.buffer) };
  }

  elementEnds(): ElementEnds {
    const ends = this.fixed(8);
    return Uint32Array.from({ length: this.rows }, (_, row) => ends.getUint32(row * 8, true));
  }

  #varUint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new RangeError("the block ends within a number");
      if (byte < 0x80) return value + byte * factor;
      value += (byte & 0x7f) * factor;
    }
  }

  #uint64(): number {
    const at = this.#take(8);
    return this.#view.getUint32(at, true) + this.#view.getUint32(at + 4, true) * 2 ** 32;
  }

  #text(): string {
    const length = this.#varUint();
    const start = this.#take(length);
    return utf8.decode(this.#bytes.subarray(start, this.#at));
  }

  /** Passes over so many bytes and answers where they begin. */
  #take(count: number): number {
    const start = this.#at;
    this.#at += count;
    if (this.#at > this.#bytes.length) throw new RangeError("the block ends early");
    return start;
  }
}

/** Where `count` texts lie that begin at `start`, each behind its length. */
export function sliceTexts(bytes: Uint8Array, start: number, count: number): Omit<TextSlices, "bytes"> {
  const starts = new Uint32Array(count);
  const ends = new Uint32Array(count);
  let at = start;
  for (let i = 0; i < count; i++) {
    // Lengths take one or two bytes, but for rare ones.
    let length = bytes[at++] ?? 0;
    if (length >= 0x80) {
      const second = bytes[at++] ?? 0;
      length = (length & 0x7f) + (second & 0x7f) * 0x80;
      for (let factor = 0x4000, more = second; more >= 0x80; factor *= 0x80) {
        more = bytes[at++] ?? 0;
        length += (more & 0x7f) * factor;
      }
    }
    starts[i] = at;
    at += length;
    ends[i] = at;
  }
  return { starts, ends };
}

/** The text of a row. */
export function textAt({ bytes, starts, ends }: TextSlices, row: number): string {
  const start = starts[row] ?? 0;
  const end = ends[row] ?? 0;
  return start === end ? "" : utf8.decode(bytes.subarray(start, end));
}

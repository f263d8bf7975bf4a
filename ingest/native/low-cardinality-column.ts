import type { IndexedTexts } from "./block-reader.ts";
import type { ByteBuffer } from "./byte-buffer.ts";
import type { Column } from "./column.ts";
import type { RowRuns } from "./row-runs.ts";
import { StringDictionary } from "./string-dictionary.ts";

/** The only version of the keys' serialization there is (`SharedDictionariesWithAdditionalKeys`). */
const KEYS_VERSION = 1;
/** The block brings its own keys rather than a dictionary shared between blocks. */
const HAS_ADDITIONAL_KEYS = 1 << 9;
const NEEDS_DICTIONARY_UPDATE = 1 << 10;

const utf8 = new TextEncoder();

const INDEX_UINT8 = 0;
const INDEX_UINT16 = 1;
const INDEX_UINT32 = 2;

/** LowCardinality(String): the distinct values once, then an index into them for every row. */
export class LowCardinalityColumn implements Column {
  readonly type = "LowCardinality(String)";
  readonly #dictionary = new StringDictionary();
  /** Text -> its number, for decoders that hold strings; emptied whenever a number may come to mean another text. */
  readonly #numbers = new Map<string, number>();
  #indexes = new Uint32Array(1024);
  #rows = 0;
  #bookmarkRows = 0;

  get rows(): number {
    return this.#rows;
  }

  /** Rows up to the bookmark. */
  get bookmarkRows(): number {
    return this.#bookmarkRows;
  }

  /** What the column will take at most, but for the lengths of the values. */
  get bytes(): number {
    return this.#dictionary.bytes + this.#rows * 4;
  }

  /** Appends `source[start, end)`, valid UTF-8, and returns its index in the dictionary. */
  appendSlice(source: Uint8Array, start: number, end: number): number {
    // Neighbouring rows tend to have the same value.
    const index = this.#dictionary.intern(source, start, end, this.#indexes[this.#rows - 1]);
    this.#appendIndex(index);
    return index;
  }

  /** Appends a text and returns its number in the dictionary. */
  append(text: string): number {
    const number = this.numberOf(text);
    this.#appendIndex(number);
    return number;
  }

  /** The number of a text in the dictionary, for `appendNumber`. */
  numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const bytes = utf8.encode(text);
    const number = this.#dictionary.intern(bytes, 0, bytes.length);
    this.#numbers.set(text, number);
    return number;
  }

  /** The number of `source[start, end)`, valid UTF-8, for `appendNumber`; it is found faster when it is `guess`. */
  numberOfSlice(source: Uint8Array, start: number, end: number, guess: number): number {
    return this.#dictionary.intern(source, start, end, guess);
  }

  /** Appends the text with this number. */
  appendNumber(number: number): void {
    this.#appendIndex(number);
  }

  /**
   * Appends rows of a block's column, those from one to before another at each call. Texts that no appended row has are
   * not taken over: they may be what others have masked.
   */
  appenderOf({ texts, indexes }: IndexedTexts): (from: number, to: number) => void {
    const numbers = new Uint32Array(texts.length);
    return (from, to) => {
      for (let row = from; row < to; row++) {
        const index = indexes[row] ?? 0;
        // One more than the number, because 0 stands for none.
        let number = numbers[index] ?? 0;
        if (number === 0) {
          number = this.#numberOfIndexed(texts[index] ?? "", index) + 1;
          numbers[index] = number;
        }
        this.#appendIndex(number - 1);
      }
    };
  }

  /** What was taken back from this very column has the same number again, as long as that was given before. */
  #numberOfIndexed(text: string, index: number): number {
    return this.#dictionary.knownText(index) === text ? index : this.numberOf(text);
  }

  appendEmpty(): void {
    this.#appendIndex(StringDictionary.EMPTY);
  }

  /** Appends empty values until the column has `rows` rows. */
  fillTo(rows: number): void {
    while (this.#rows < rows) this.#appendIndex(StringDictionary.EMPTY);
  }

  /** The rows since the bookmark, as they lie here until the next change; among the texts are those of others, too. */
  sinceBookmark(): IndexedTexts {
    return {
      texts: this.#dictionary.texts(),
      indexes: this.#indexes.subarray(this.#bookmarkRows, this.#rows),
    };
  }

  /** Whether every text of rows since the bookmark, `from` to before `to`, was in the column before it. */
  isOfOlder(from: number, to: number): boolean {
    const older = this.#dictionary.bookmarkSize;
    const first = this.#bookmarkRows;
    for (let row = first + from; row < first + to; row++)
      if ((this.#indexes[row] ?? 0) >= older) return false;
    return true;
  }

  /** Forgets the rows since the bookmark but those in the runs; the texts of all stay. */
  keepRuns(runs: RowRuns): void {
    const first = this.#bookmarkRows;
    let rows = first;
    for (const [from, to] of runs) {
      if (rows !== first + from) this.#indexes.copyWithin(rows, first + from, first + to);
      rows += to - from;
    }
    this.#rows = rows;
  }

  bookmark(): void {
    this.#bookmarkRows = this.#rows;
    this.#dictionary.bookmark();
  }

  rewind(): void {
    this.#rows = this.#bookmarkRows;
    this.#dictionary.rewind();
    this.#numbers.clear();
  }

  writePrefix(out: ByteBuffer): void {
    out.writeUInt64(KEYS_VERSION, 0);
  }

  writeData(out: ByteBuffer): void {
    if (this.#rows === 0) return;
    const keys = this.#dictionary.size;
    const indexType = keys <= 0x100 ? INDEX_UINT8 : keys <= 0x10000 ? INDEX_UINT16 : INDEX_UINT32;
    out.writeUInt64(HAS_ADDITIONAL_KEYS | NEEDS_DICTIONARY_UPDATE | indexType, 0);
    out.writeUInt64(keys, 0);
    this.#dictionary.writeKeys(out);
    out.writeUInt64(this.#rows, 0);
    const indexes = this.#indexes.subarray(0, this.#rows);
    if (indexType === INDEX_UINT8) out.writeBytes(Uint8Array.from(indexes));
    else if (indexType === INDEX_UINT16) out.writeBytes(new Uint8Array(Uint16Array.from(indexes).buffer));
    else out.writeBytes(new Uint8Array(indexes.buffer, 0, this.#rows * 4));
  }

  clear(): void {
    this.#rows = 0;
    this.#dictionary.clear();
    this.#numbers.clear();
  }

  #appendIndex(index: number): void {
    if (this.#rows === this.#indexes.length) {
      const grown = new Uint32Array(this.#rows * 2);
      grown.set(this.#indexes);
      this.#indexes = grown;
    }
    this.#indexes[this.#rows++] = index;
  }
}

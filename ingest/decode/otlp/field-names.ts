import { JSON_NULL, JSON_STRING, type JsonTape } from "../json-tape.ts";

/** Names are compared four bytes at a time. */
const WORD = 4;
const QUOTE = 0x22;

const encoder = new TextEncoder();

/** A name in the forms it is compared in. */
export class FieldName {
  /** Its position among others. */
  readonly index: number;
  readonly #bytes: Uint8Array;
  /** The name and the quote behind it, little-endian. */
  readonly #words: Int32Array;
  /** Where each word begins: the last one overlaps the one before it unless the length is a multiple of a word's. */
  readonly #starts: Uint32Array;

  /** An ASCII name of at least three characters. */
  constructor(name: string, index = 0) {
    this.index = index;
    this.#bytes = encoder.encode(name);
    const quoted = Uint8Array.from([...this.#bytes, QUOTE]);
    const view = new DataView(quoted.buffer);
    this.#starts = Uint32Array.from({ length: Math.ceil(quoted.length / WORD) }, (_, i) =>
      Math.min(i * WORD, quoted.length - WORD),
    );
    this.#words = Int32Array.from(this.#starts, (start) => view.getInt32(start, true));
  }

  /**
   * Whether a string without escapes that starts there is the name. A name in an object is always followed by four
   * bytes at least, so this never reads beyond the source.
   */
  isAt(view: DataView, start: number): boolean {
    const words = this.#words;
    const starts = this.#starts;
    for (let i = 0; i < words.length; i++)
      if (view.getInt32(start + (starts[i] ?? 0), true) !== words[i]) return false;
    return true;
  }

  /** Whether a text of the name's length is the name. */
  isIn(source: Uint8Array, start: number): boolean {
    const bytes = this.#bytes;
    for (let i = 0; i < bytes.length; i++) if (source[start + i] !== bytes[i]) return false;
    return true;
  }
}

/** The fields that are read of one kind of message, by their positions in a list; every other field is ignored. */
export class FieldNames {
  readonly count: number;
  readonly #names: readonly FieldName[];
  readonly #byLength: ReadonlyArray<readonly FieldName[]>;
  /** Which field came at which position of the message read last: senders write their messages alike. */
  readonly #order: Uint8Array;

  constructor(names: readonly string[]) {
    this.count = names.length;
    this.#names = names.map((name, index) => new FieldName(name, index));
    this.#order = Uint8Array.from(names.keys());
    const longest = Math.max(...names.map((name) => name.length));
    this.#byLength = Array.from({ length: longest + 1 }, (_, length) =>
      this.#names.filter(({ index }) => names[index]?.length === length),
    );
  }

  /** The position of the name that a string spells; -1 when it is none of them. */
  find(tape: JsonTape, name: number): number {
    tape.readText(name);
    const { textBytes, textStart, textEnd } = tape;
    const length = textEnd - textStart;
    if (length >= this.#byLength.length) return -1;
    const candidates = this.#byLength[length];
    if (candidates === undefined) return -1;
    for (let i = 0; i < candidates.length; i++) {
      const candidate = candidates[i];
      if (candidate?.isIn(textBytes, textStart) === true) return candidate.index;
    }
    return -1;
  }

  /**
   * Notes in `tokens` where the values of an object's fields are, 0 for a field that is not there: no field is token
   * 0. A null counts as a field that is not there, and of a field given twice the last one counts.
   */
  read(tape: JsonTape, message: number, tokens: Uint32Array): void {
    for (let i = 0; i < this.count; i++) tokens[i] = 0;
    const end = tape.ends[message] ?? 0;
    let position = 0;
    for (let name = message + 1; name < end; name = tape.next(name + 1)) {
      let index = this.#order[position] ?? 0;
      const expected = this.#names[index];
      const isExpected =
        expected !== undefined &&
        tape.kinds[name] === JSON_STRING &&
        expected.isAt(tape.view, tape.starts[name] ?? 0);
      if (!isExpected) {
        index = this.find(tape, name);
        if (index >= 0 && position < this.count) this.#order[position] = index;
      }
      if (index >= 0) tokens[index] = tape.kinds[name + 1] === JSON_NULL ? 0 : name + 1;
      position++;
    }
  }
}

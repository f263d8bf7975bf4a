import { CUT_OFF, END_OF_ENTRY, JournalFields } from "./journal-fields.ts";

const INITIAL_BYTES = 16 * 1024;

/** Takes an endless body of the journal's export format apart where entries end. */
export class JournalEntries {
  readonly #fields = new JournalFields();
  #bytes = new Uint8Array(INITIAL_BYTES);
  #length = 0;
  /** Whole entries are `#bytes[0, #whole)`. */
  #whole = 0;

  /** Bytes of whole entries. */
  get wholeBytes(): number {
    return this.#whole;
  }

  /** All bytes that were pushed and not taken. */
  get heldBytes(): number {
    return this.#length;
  }

  push(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(chunk, this.#length);
    this.#length = needed;
    const fields = this.#fields;
    while (fields.at < this.#length) {
      const found = fields.next(this.#bytes, this.#length);
      if (found === CUT_OFF) return;
      if (found === END_OF_ENTRY) this.#whole = fields.at;
    }
  }

  /** The whole entries, which are not changed by what is pushed later. */
  take(): Uint8Array {
    return this.#takeUpTo(this.#whole);
  }

  /** Everything, when the body has ended. */
  takeRest(): Uint8Array {
    return this.#takeUpTo(this.#length);
  }

  #takeUpTo(end: number): Uint8Array {
    const taken = this.#bytes.slice(0, end);
    this.#bytes.copyWithin(0, end, this.#length);
    this.#length -= end;
    this.#whole = 0;
    this.#fields.at -= end;
    return taken;
  }
}

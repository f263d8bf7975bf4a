import { ValueScanner } from "../../../../../ingest/index.ts";

const INITIAL_BYTES = 16 * 1024;

/** Takes the bytes of one connection apart into whole MessagePack values. */
export class MessageQueue {
  readonly #scanner = new ValueScanner();
  #bytes = new Uint8Array(INITIAL_BYTES);
  /** The bytes not taken yet are `#bytes[#start, #end)`. */
  #start = 0;
  #end = 0;
  #isDamaged = false;

  get heldBytes(): number {
    return this.#end - this.#start;
  }

  /** What came is no MessagePack, and nothing after it can be told apart. */
  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  push(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#bytes.length) this.#makeRoom(chunk.length);
    this.#bytes.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** The next whole value, which is not changed by what is pushed later; null when there is none yet. */
  next(): Uint8Array | null {
    if (this.#start === this.#end || this.#isDamaged) return null;
    const isWhole = this.#scanner.scan(this.#bytes, this.#end);
    if (isWhole === null) this.#isDamaged = true;
    if (isWhole !== true) return null;
    const value = this.#bytes.slice(this.#start, this.#scanner.at);
    this.#start = this.#scanner.at;
    this.#scanner.begin(this.#start);
    return value;
  }

  #makeRoom(count: number): void {
    const held = this.heldBytes;
    const needed = held + count;
    const target =
      needed <= this.#bytes.length ? this.#bytes : new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    target.set(this.#bytes.subarray(this.#start, this.#end));
    this.#bytes = target;
    this.#scanner.at -= this.#start;
    this.#start = 0;
    this.#end = held;
  }
}

import { ByteBuffer } from "./byte-buffer.ts";
import { RecentTexts } from "./recent-texts.ts";

const INITIAL_SLOTS = 256;
/** A dictionary that grew beyond this is made anew at the next clear, so that one odd batch does not keep its memory. */
const KEEP_SLOTS = 1 << 16;
/** Drawn per process, so that nobody can prepare strings that all fall into one slot. */
const HASH_SEED = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;

/**
 * Distinct byte strings numbered in order of arrival: an open-addressing hash table over one byte arena, because the
 * decoders hold bytes and a JavaScript string per value would cost more than the rest of the row.
 * Number 0 is always the empty string.
 */
export class StringDictionary {
  static readonly EMPTY = 0;

  /** Slot -> number + 1; 0 is a free slot. */
  #slots = new Uint32Array(INITIAL_SLOTS);
  /** Number -> hash, and number -> end of its bytes in the arena (its start is its predecessor's end). */
  #hashes = new Uint32Array(INITIAL_SLOTS);
  #ends = new Uint32Array(INITIAL_SLOTS);
  readonly #arena = new ByteBuffer(1024);
  /** Number -> text, of the first numbers: all that somebody asked for. */
  #texts: string[] = [""];
  /** Of batches before: the same names come in each. Made when somebody asks for the first text. */
  #recent: RecentTexts | null = null;
  #size = 1;
  #bookmark = 1;

  get size(): number {
    return this.#size;
  }

  /** Strings up to the bookmark. */
  get bookmarkSize(): number {
    return this.#bookmark;
  }

  /** Bytes of all strings. */
  get bytes(): number {
    return this.#arena.length;
  }

  /** The number of `source[start, end)`, given now if it is new. `guess` is tried before the table is asked. */
  intern(source: Uint8Array, start: number, end: number, guess: number = StringDictionary.EMPTY): number {
    if (start === end) return StringDictionary.EMPTY;
    if (guess > 0 && guess < this.#size && this.#equals(guess, source, start, end)) return guess;
    let hash = HASH_SEED;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ (source[i] ?? 0), 0x01000193);
    hash = (hash ^ (hash >>> 15)) >>> 0;
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot] ?? 0;
      if (entry === 0) return this.#add(slot, hash, source, start, end);
      if (this.#hashes[entry - 1] === hash && this.#equals(entry - 1, source, start, end)) return entry - 1;
    }
  }

  bookmark(): void {
    this.#bookmark = this.#size;
  }

  /** Forgets the strings that came after the bookmark: they belonged to a refused request. */
  rewind(): void {
    if (this.#size === this.#bookmark) return;
    this.#size = this.#bookmark;
    this.#texts = this.#texts.slice(0, this.#size);
    this.#arena.length = this.#ends[this.#size - 1] ?? 0;
    this.#rehash(this.#slots.length);
  }

  /** All strings by their numbers. Later ones are added to the same list, unless some are forgotten before. */
  texts(): readonly string[] {
    this.#recent ??= new RecentTexts();
    const { bytes } = this.#arena;
    for (let number = this.#texts.length; number < this.#size; number++)
      this.#texts.push(
        this.#recent.textOf(
          bytes,
          this.#ends[number - 1] ?? 0,
          this.#ends[number] ?? 0,
          this.#hashes[number] ?? 0,
        ),
      );
    return this.#texts;
  }

  /** The string of a number, if it is among those that somebody asked for. */
  knownText(number: number): string | undefined {
    return this.#texts[number];
  }

  /** Appends all strings in order, each behind its length. */
  writeKeys(out: ByteBuffer): void {
    let start = 0;
    for (let number = 0; number < this.#size; number++) {
      const end = this.#ends[number] ?? 0;
      out.writeVarUint(end - start);
      out.writeSlice(this.#arena.bytes, start, end);
      start = end;
    }
  }

  clear(): void {
    if (this.#slots.length > KEEP_SLOTS) {
      this.#slots = new Uint32Array(INITIAL_SLOTS);
      this.#hashes = new Uint32Array(INITIAL_SLOTS);
      this.#ends = new Uint32Array(INITIAL_SLOTS);
    } else if (this.#size > 1) {
      this.#slots.fill(0);
    }
    this.#size = 1;
    this.#texts = [""];
    this.#bookmark = 1;
    this.#arena.clear();
  }

  #add(slot: number, hash: number, source: Uint8Array, start: number, end: number): number {
    const number = this.#size++;
    this.#slots[slot] = number + 1;
    this.#hashes[number] = hash;
    this.#arena.writeSlice(source, start, end);
    this.#ends[number] = this.#arena.length;
    // At most half full, so that a probe stays short.
    if (this.#size * 2 > this.#slots.length) this.#rehash(this.#slots.length * 2);
    return number;
  }

  #equals(number: number, source: Uint8Array, start: number, end: number): boolean {
    let at = this.#ends[number - 1] ?? 0;
    if ((this.#ends[number] ?? 0) - at !== end - start) return false;
    const bytes = this.#arena.bytes;
    for (let i = start; i < end; i++) if (bytes[at++] !== source[i]) return false;
    return true;
  }

  #rehash(slotCount: number): void {
    if (slotCount > this.#hashes.length) {
      const hashes = new Uint32Array(slotCount);
      hashes.set(this.#hashes);
      this.#hashes = hashes;
      const ends = new Uint32Array(slotCount);
      ends.set(this.#ends);
      this.#ends = ends;
    }
    const slots = new Uint32Array(slotCount);
    const mask = slotCount - 1;
    for (let number = 1; number < this.#size; number++) {
      let slot = (this.#hashes[number] ?? 0) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }
}

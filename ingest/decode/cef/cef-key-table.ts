const encoder = new TextEncoder();
/** Slots for every entry: with so few of them taken, nearly every probe ends at its first slot. */
const SLOTS_PER_ENTRY = 8;

/**
 * A fixed table from names to what they mean, looked up by bytes: a string for every key of a message would cost more
 * than all the rest of its decoding. What is in the table is ours, so nobody can make it slow.
 */
export class CefKeyTable<V> {
  readonly #slots: (Entry<V> | undefined)[];
  readonly #mask: number;

  constructor(entries: readonly (readonly [string, V])[]) {
    this.#mask = 2 ** Math.ceil(Math.log2(entries.length * SLOTS_PER_ENTRY)) - 1;
    this.#slots = new Array(this.#mask + 1).fill(undefined);
    for (const [name, value] of entries) {
      const bytes = encoder.encode(name);
      let slot = this.#hash(bytes, 0, bytes.length);
      while (this.#slots[slot] !== undefined) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = { bytes, value };
    }
  }

  /** What the name `source[start, end)` means. */
  get(source: Uint8Array, start: number, end: number): V | undefined {
    for (let slot = this.#hash(source, start, end); ; slot = (slot + 1) & this.#mask) {
      const entry = this.#slots[slot];
      if (entry === undefined) return undefined;
      if (isSame(entry.bytes, 0, entry.bytes.length, source, start, end)) return entry.value;
    }
  }

  #hash(source: Uint8Array, start: number, end: number): number {
    let hash = end - start;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (source[at] ?? 0), 0x01000193);
    return (hash ^ (hash >>> 15)) & this.#mask;
  }
}

interface Entry<V> {
  readonly bytes: Uint8Array;
  readonly value: V;
}

/** Whether two ranges hold the same bytes. */
export function isSame(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): boolean {
  if (aEnd - aStart !== bEnd - bStart) return false;
  for (let i = aStart, j = bStart; i < aEnd; i++, j++) if (a[i] !== b[j]) return false;
  return true;
}

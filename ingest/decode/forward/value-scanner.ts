/** Bytes behind the first one of each kind of value that has a fixed number of them, -1 for the others. */
const FIXED_BYTES = new Map<number, number>([
  [0xca, 4],
  [0xcb, 8],
  [0xcc, 1],
  [0xcd, 2],
  [0xce, 4],
  [0xcf, 8],
  [0xd0, 1],
  [0xd1, 2],
  [0xd2, 4],
  [0xd3, 8],
  [0xd4, 2],
  [0xd5, 3],
  [0xd6, 5],
  [0xd7, 9],
  [0xd8, 17],
]);
/** Kinds that say their length: bytes of the length, bytes besides it, and how many values a unit stands for. */
const COUNTED = new Map<number, readonly [width: number, besides: number, values: 0 | 1 | 2]>([
  [0xc4, [1, 0, 0]],
  [0xc5, [2, 0, 0]],
  [0xc6, [4, 0, 0]],
  [0xc7, [1, 1, 0]],
  [0xc8, [2, 1, 0]],
  [0xc9, [4, 1, 0]],
  [0xd9, [1, 0, 0]],
  [0xda, [2, 0, 0]],
  [0xdb, [4, 0, 0]],
  [0xdc, [2, 0, 1]],
  [0xdd, [4, 0, 1]],
  [0xde, [2, 0, 2]],
  [0xdf, [4, 0, 2]],
]);
const NEVER_USED = 0xc1;

/**
 * Finds where MessagePack values end, without making them, also in bytes that come piece by piece: it goes on where it
 * stopped. Source: MessagePack specification.
 */
export class ValueScanner {
  /** After `scan` is true: behind the value. */
  at = 0;
  /** Values still to come before the one that is being read is whole. */
  #missing = 1;

  /** Begins with the value at `at`. */
  begin(at: number): void {
    this.at = at;
    this.#missing = 1;
  }

  /** Whether the value is whole in `bytes[0, end)`; null when it is none. */
  scan(bytes: Uint8Array, end: number): boolean | null {
    while (this.#missing > 0) {
      const { at } = this;
      if (at >= end) return false;
      const kind = bytes[at] ?? 0;
      if (kind === NEVER_USED) return null;
      let size = 1;
      let values = 0;
      const fixed = FIXED_BYTES.get(kind);
      const counted = COUNTED.get(kind);
      if (fixed !== undefined) size += fixed;
      else if (counted !== undefined) {
        const [width, besides, perUnit] = counted;
        if (at + 1 + width > end) return false;
        let count = 0;
        for (let i = 1; i <= width; i++) count = count * 256 + (bytes[at + i] ?? 0);
        size += width + besides + (perUnit === 0 ? count : 0);
        values = count * perUnit;
      } else if (kind >= 0x80 && kind < 0x90) values = (kind & 0x0f) * 2;
      else if (kind >= 0x90 && kind < 0xa0) values = kind & 0x0f;
      else if (kind >= 0xa0 && kind < 0xc0) size += kind & 0x1f;
      if (at + size > end) return false;
      this.at = at + size;
      this.#missing += values - 1;
    }
    return true;
  }
}

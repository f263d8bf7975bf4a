import { encodeRecord } from "./format.ts";
import { GROUP_BUFFERS_KEPT } from "./limits.ts";
import type { WalAppend, WalRange } from "./types.ts";

interface StagedRecord {
  /** Within the group. */
  readonly offset: number;
  readonly resolve: (range: WalRange) => void;
  readonly reject: (error: unknown) => void;
}

/** Encoded records that will be written and synced together, and who waits for them. */
export interface Group {
  readonly buffer: Uint8Array;
  readonly view: DataView;
  readonly records: StagedRecord[];
  bytes: number;
  keyBytes: number;
  oldestMs: number;
  newestMs: number;
}

/**
 * Records between `append` and the disk. They are encoded at once into the group that is filling, so that the work
 * overlaps with the sync of the group before, and a caller's buffers are free again when `append` returns.
 */
export class Staging {
  readonly #groupBytes: number;
  readonly #queue: Group[] = [];
  readonly #spare: Uint8Array[] = [];
  #bytes = 0;

  constructor(groupBytes: number) {
    this.#groupBytes = groupBytes;
  }

  /** Bytes added and not yet done with. */
  get bytes(): number {
    return this.#bytes;
  }

  /** `size` is `recordBytes(append)`. A record larger than a group gets a group of its own. */
  add(append: WalAppend, size: number): Promise<WalRange> {
    const group = this.#groupFor(size);
    encodeRecord(group.view, group.bytes, size, append);
    const { promise, resolve, reject } = Promise.withResolvers<WalRange>();
    group.records.push({ offset: group.bytes, resolve, reject });
    group.bytes += size;
    group.keyBytes += append.keys.length;
    group.oldestMs = Math.min(group.oldestMs, append.receivedAtMs);
    group.newestMs = Math.max(group.newestMs, append.receivedAtMs);
    this.#bytes += size;
    return promise;
  }

  /** The next group to write. It accepts no more records. */
  take(): Group | undefined {
    return this.#queue.shift();
  }

  /** Ends a group that was taken; its buffer is used again. */
  done(group: Group): void {
    this.#bytes -= group.bytes;
    const reusable = group.buffer.length === this.#groupBytes;
    if (reusable && this.#spare.length < GROUP_BUFFERS_KEPT) this.#spare.push(group.buffer);
  }

  #groupFor(size: number): Group {
    const filling = this.#queue.at(-1);
    if (filling !== undefined && filling.bytes + size <= filling.buffer.length) return filling;
    const pooled = size <= this.#groupBytes;
    const buffer = pooled ? (this.#spare.pop() ?? new Uint8Array(this.#groupBytes)) : new Uint8Array(size);
    const group: Group = {
      buffer,
      view: new DataView(buffer.buffer),
      records: [],
      bytes: 0,
      keyBytes: 0,
      oldestMs: Number.POSITIVE_INFINITY,
      newestMs: 0,
    };
    this.#queue.push(group);
    return group;
  }
}

import type { WalAppend, WalRange } from "./types.ts";

/** Records that were appended together, and who waits for them. */
interface StagedAppend {
  readonly records: readonly WalAppend[];
  readonly bytes: number;
  readonly resolve: (range: WalRange) => void;
  readonly reject: (error: unknown) => void;
}

/** Appends that will be written and synced together. */
export interface Group {
  readonly appends: StagedAppend[];
  bytes: number;
  keyBytes: number;
  oldestMs: number;
  newestMs: number;
}

/** Appends between the call and the disk, in groups: those that come while one group is synced are the next. */
export class Staging {
  readonly #groupBytes: number;
  readonly #queue: Group[] = [];
  #bytes = 0;

  constructor(groupBytes: number) {
    this.#groupBytes = groupBytes;
  }

  /** Bytes added and not yet done with. */
  get bytes(): number {
    return this.#bytes;
  }

  /** `bytes` are those of the records. What is larger than a group gets one of its own, and so do several records. */
  add(records: readonly WalAppend[], bytes: number): Promise<WalRange> {
    const group = this.#groupFor(records, bytes);
    const { promise, resolve, reject } = Promise.withResolvers<WalRange>();
    group.appends.push({ records, bytes, resolve, reject });
    group.bytes += bytes;
    for (const { keyBytes, receivedAtMs } of records) {
      group.keyBytes += keyBytes;
      group.oldestMs = Math.min(group.oldestMs, receivedAtMs);
      group.newestMs = Math.max(group.newestMs, receivedAtMs);
    }
    this.#bytes += bytes;
    return promise;
  }

  /** The next group to write. It accepts nothing more. */
  take(): Group | undefined {
    return this.#queue.shift();
  }

  /** Ends a group that was taken. */
  done(group: Group): void {
    this.#bytes -= group.bytes;
  }

  #groupFor(records: readonly WalAppend[], bytes: number): Group {
    const filling = this.#queue.at(-1);
    const isShared = filling?.appends.every((append) => append.records.length === 1) === true;
    if (isShared && records.length === 1 && filling.bytes + bytes <= this.#groupBytes) return filling;
    const group: Group = {
      appends: [],
      bytes: 0,
      keyBytes: 0,
      oldestMs: Number.POSITIVE_INFINITY,
      newestMs: 0,
    };
    this.#queue.push(group);
    return group;
  }
}

import type { MemoryShare } from "../../../concurrency/memory-share.ts";
import { QUEUE_MAX_CHARS, QUEUE_MAX_ENTRIES } from "./limits.ts";
import { sourceOf } from "./position.ts";
import type { TailEntry } from "./tail-filter.ts";

/** What stands in the place of entries that a slow reader does not get. */
export interface DroppedEntries {
  count: number;
  /** Of a break, of which only the newest are shown; others came too fast. */
  readonly isOfBreak?: boolean;
  /** The last id of each server among them. */
  readonly lastIds: Map<number, bigint>;
}

export type QueueItem =
  | { readonly kind: "entry"; readonly entry: TailEntry }
  | { readonly kind: "dropped"; readonly dropped: DroppedEntries }
  /** A block of the stream as it is. */
  | { readonly kind: "block"; readonly text: string };

/** Once full, a queue takes entries again when it is half empty: a few long gaps are better to read than many short. */
const REOPEN_SHARE = 0.5;

/**
 * What waits for one reader, bounded. Entries that find no room are counted, and the count takes their place in the
 * order.
 */
export class ReaderQueue {
  readonly #memory: MemoryShare;
  #items: QueueItem[] = [];
  #next = 0;
  #chars = 0;
  #dropping: DroppedEntries | null = null;

  constructor(memory: MemoryShare) {
    this.#memory = memory;
  }

  get isEmpty(): boolean {
    return this.#next === this.#items.length && this.#dropping === null;
  }

  /** Characters of the entries that wait. */
  get chars(): number {
    return this.#chars;
  }

  /** Entries that it takes now, if they are not too long. */
  get room(): number {
    if (this.#dropping !== null && !this.#hasReopened()) return 0;
    return QUEUE_MAX_ENTRIES - (this.#items.length - this.#next);
  }

  /** False when the entry was dropped. */
  push(entry: TailEntry): boolean {
    if (this.#dropping !== null && !this.#hasReopened()) {
      this.drop(1, entry.id);
      return false;
    }
    const chars = entry.json.length;
    if (
      this.#items.length - this.#next >= QUEUE_MAX_ENTRIES ||
      this.#chars + chars > QUEUE_MAX_CHARS ||
      !this.#memory.tryTake(chars)
    ) {
      this.drop(1, entry.id);
      return false;
    }
    this.#closeDropping();
    this.#chars += chars;
    this.#items.push({ kind: "entry", entry });
    return true;
  }

  /** Counts entries that are not even given; `lastId` is that of the last. */
  drop(count: number, lastId: bigint): void {
    this.#dropping ??= { count: 0, lastIds: new Map() };
    this.#dropping.count += count;
    this.#dropping.lastIds.set(sourceOf(lastId), lastId);
  }

  /** Counts entries that nobody has. */
  pushLost(count: number): void {
    this.#dropping ??= { count: 0, lastIds: new Map() };
    this.#dropping.count += count;
  }

  /** Takes over everything that another queue holds. */
  absorb(other: ReaderQueue): void {
    for (let item = other.shift(); item !== undefined; item = other.shift()) {
      if (item.kind === "entry") this.push(item.entry);
      else if (item.kind === "block") this.pushBlock(item.text);
      else {
        this.#dropping ??= { count: 0, lastIds: new Map() };
        this.#dropping.count += item.dropped.count;
        for (const [source, id] of item.dropped.lastIds) this.#dropping.lastIds.set(source, id);
      }
    }
  }

  pushBlock(text: string): void {
    this.#closeDropping();
    this.#items.push({ kind: "block", text });
  }

  shift(): QueueItem | undefined {
    if (this.#next === this.#items.length) {
      this.#closeDropping();
      if (this.#next === this.#items.length) return undefined;
    }
    const item = this.#items[this.#next++];
    if (item?.kind === "entry") this.#giveBack(item.entry.json.length);
    // Forgotten in large steps: moving the rest at each would cost its length each time.
    if (this.#next === this.#items.length) {
      this.#items = [];
      this.#next = 0;
    } else if (this.#next > QUEUE_MAX_ENTRIES) {
      this.#items = this.#items.slice(this.#next);
      this.#next = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#next = 0;
    this.#dropping = null;
    this.#giveBack(this.#chars);
  }

  #hasReopened(): boolean {
    return (
      this.#items.length - this.#next <= QUEUE_MAX_ENTRIES * REOPEN_SHARE &&
      this.#chars <= QUEUE_MAX_CHARS * REOPEN_SHARE
    );
  }

  #closeDropping(): void {
    if (this.#dropping === null) return;
    this.#items.push({ kind: "dropped", dropped: this.#dropping });
    this.#dropping = null;
  }

  #giveBack(chars: number): void {
    this.#chars -= chars;
    this.#memory.giveBack(chars);
  }
}

import { EVENT_KEY_WORDS } from "./event-key.ts";

/** Tables the set is split into, so that growing one copies a few thousand keys and never stops the server. */
const PARTITIONS = 256;
const INITIAL_KEYS = 16;
/** Of a table that is three quarters full. */
const GROWTH = 1.5;
/** Partitions differ by some hundredths in how many keys they get. */
const EXPECTED_LOAD = 0.7;

/** One open-addressing table of keys; `words` holds four words a slot, all zero where the slot is free. */
interface Partition {
  words: Uint32Array;
  size: number;
}

/**
 * A set of 16-byte event keys in flat memory: 16 bytes a slot, half to three quarters full, which makes 21 to 32 bytes a
 * key.
 */
export class EventKeySet {
  readonly #partitions: readonly Partition[];
  #size = 0;

  /** Takes `expectedKeys` without growing: what a table grew out of is not soon memory that others can have. */
  constructor(expectedKeys = 0) {
    const slots = Math.max(INITIAL_KEYS, Math.ceil(expectedKeys / PARTITIONS / EXPECTED_LOAD));
    this.#partitions = Array.from({ length: PARTITIONS }, () => ({
      words: new Uint32Array(slots * EVENT_KEY_WORDS),
      size: 0,
    }));
  }

  get size(): number {
    return this.#size;
  }

  has(keys: Uint32Array, at: number): boolean {
    const { words } = this.#partitionOf(keys, at);
    return !isFree(words, findSlot(words, keys, at));
  }

  /** Adds `keys[at, at + 4)`; false when it was there already. */
  add(keys: Uint32Array, at: number): boolean {
    const partition = this.#partitionOf(keys, at);
    const slot = findSlot(partition.words, keys, at);
    if (!isFree(partition.words, slot)) return false;
    for (let i = 0; i < EVENT_KEY_WORDS; i++) partition.words[slot + i] = keys[at + i] ?? 0;
    partition.size++;
    this.#size++;
    if (partition.size * EVENT_KEY_WORDS * 4 > partition.words.length * 3) grow(partition);
    return true;
  }

  #partitionOf(keys: Uint32Array, at: number): Partition {
    const partition = this.#partitions[(keys[at + 1] ?? 0) >>> 24];
    if (partition === undefined) throw new Error("an 8-bit number names one of 256 partitions");
    return partition;
  }
}

/** Where the key is, or the free slot where it belongs; an index into `words`. */
function findSlot(words: Uint32Array, keys: Uint32Array, at: number): number {
  const slots = words.length / EVENT_KEY_WORDS;
  let slot = Math.floor(((keys[at + 2] ?? 0) / 2 ** 32) * slots) * EVENT_KEY_WORDS;
  while (!isFree(words, slot)) {
    if (
      words[slot] === keys[at] &&
      words[slot + 1] === keys[at + 1] &&
      words[slot + 2] === keys[at + 2] &&
      words[slot + 3] === keys[at + 3]
    )
      return slot;
    slot += EVENT_KEY_WORDS;
    if (slot === words.length) slot = 0;
  }
  return slot;
}

/** Organizations are numbered from 1, so a key's first word is never zero. */
function isFree(words: Uint32Array, slot: number): boolean {
  return words[slot] === 0;
}

function grow(partition: Partition): void {
  const old = partition.words;
  const slots = Math.ceil((old.length / EVENT_KEY_WORDS) * GROWTH);
  const words = new Uint32Array(slots * EVENT_KEY_WORDS);
  for (let from = 0; from < old.length; from += EVENT_KEY_WORDS) {
    if (isFree(old, from)) continue;
    words.set(old.subarray(from, from + EVENT_KEY_WORDS), findSlot(words, old, from));
  }
  partition.words = words;
}

/** Names a holder of one level. */
export type ShareKey = string | number;

/** What `take` did: it took, or the holder has its share already, or nothing is left for anybody. */
export type Taking = "taken" | "share_used_up" | "all_used_up";

/**
 * A bounded quantity (requests, bytes) that nested holders share, for example organisations and the callers in them.
 * A holder may hold at most what it leaves to the others of its level: alone it gets half, and with n that take all
 * they can, one more that holds nothing still finds an n-th or so free, however many they are. What a holder leaves to the
 * others of its level is what those below it share in the same way. There is no list of holders to set bounds for, and one
 * alone is not held to the share it would have in a crowd.
 */
export class FairShare {
  readonly #max: number;
  /** What is held at each level, by holder; whoever holds nothing is not in it. */
  readonly #levels: Map<ShareKey, number>[] = [];
  #used = 0;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get used(): number {
    return this.#used;
  }

  /** All that was ever taken, whether it was given back or not. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes for the holder at the end of `path`, outermost first; what was taken is given back under the same path. */
  take(path: readonly ShareKey[], amount = 1): Taking {
    if (amount === 0) return "taken";
    let left = this.#max - this.#used - amount;
    if (left < 0) return "all_used_up";
    let taking: Taking = "all_used_up";
    for (let depth = 0; depth < path.length; depth++) {
      const held = this.#heldBy(path, depth);
      // Whoever holds nothing yet is refused for what the others of the level above hold.
      if (held > 0) taking = "share_used_up";
      left -= held + amount;
      if (left < 0) return taking;
    }
    this.#add(path, amount);
    this.#taken += amount;
    return "taken";
  }

  giveBack(path: readonly ShareKey[], amount = 1): void {
    this.#add(path, -amount);
  }

  #heldBy(path: readonly ShareKey[], depth: number): number {
    const key = path[depth];
    return key === undefined ? 0 : (this.#levels[depth]?.get(key) ?? 0);
  }

  #add(path: readonly ShareKey[], amount: number): void {
    this.#used += amount;
    for (let depth = 0; depth < path.length; depth++) {
      const key = path[depth];
      if (key === undefined) continue;
      this.#levels[depth] ??= new Map();
      const held = this.#heldBy(path, depth) + amount;
      if (held === 0) this.#levels[depth]?.delete(key);
      else this.#levels[depth]?.set(key, held);
    }
  }
}

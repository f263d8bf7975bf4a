/** A monitor and when it is due. */
interface Due {
  readonly atMs: number;
  readonly monitorId: number;
  /** Tells a due time from an earlier one of the same monitor that no longer holds. */
  readonly version: number;
}

/** Due times, the earliest first. */
export class DueHeap {
  readonly #items: Due[] = [];

  get size(): number {
    return this.#items.length;
  }

  peek(): Due | undefined {
    return this.#items[0];
  }

  push(item: Due): void {
    const items = this.#items;
    let index = items.length;
    items.push(item);
    for (;;) {
      const above = (index - 1) >> 1;
      const parent = items[above];
      if (index === 0 || parent === undefined || parent.atMs <= item.atMs) break;
      items[index] = parent;
      index = above;
    }
    items[index] = item;
  }

  pop(): Due | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let index = 0;
    for (;;) {
      const child = this.#earlierChild(index);
      const below = items[child];
      if (below === undefined || below.atMs >= last.atMs) break;
      items[index] = below;
      index = child;
    }
    items[index] = last;
    return first;
  }

  #earlierChild(index: number): number {
    const left = this.#items[2 * index + 1];
    const right = this.#items[2 * index + 2];
    return 2 * index + (left !== undefined && right !== undefined && right.atMs < left.atMs ? 2 : 1);
  }
}

interface Line<T> {
  readonly items: { readonly item: T; readonly bytes: number }[];
  bytes: number;
}

interface TurnQueueBounds {
  readonly maxBytes: number;
  /** Of one organisation. */
  readonly maxBytesOfOne: number;
}

/** Names whoever takes turns with others: an organisation, as a rule. */
type Owner = number | string;

/** What waits, of many organisations: they take turns, so that one that sends much holds up only itself. */
export class TurnQueue<T> {
  readonly #bounds: TurnQueueBounds;
  /** By organisation, the one whose turn is next first; none is empty. */
  readonly #lines = new Map<Owner, Line<T>>();
  #bytes = 0;

  constructor(bounds: TurnQueueBounds) {
    this.#bounds = bounds;
  }

  /** False when there is no room; there is for anything where nothing waits. */
  add(owner: Owner, item: T, bytes: number): boolean {
    const { maxBytes, maxBytesOfOne } = this.#bounds;
    const line = this.#lines.get(owner) ?? { items: [], bytes: 0 };
    const isBeyond = this.#bytes + bytes > maxBytes || line.bytes + bytes > maxBytesOfOne;
    if (isBeyond && this.#bytes > 0) return false;
    line.items.push({ item, bytes });
    line.bytes += bytes;
    this.#bytes += bytes;
    this.#lines.set(owner, line);
    return true;
  }

  /** Takes the first of the organisation whose turn it is; undefined when nothing waits. */
  take(): T | undefined {
    for (const [owner, line] of this.#lines) {
      this.#lines.delete(owner);
      const first = line.items.shift();
      if (first === undefined) continue;
      this.#bytes -= first.bytes;
      line.bytes -= first.bytes;
      if (line.items.length > 0) this.#lines.set(owner, line);
      return first.item;
    }
    return undefined;
  }
}

/** What waits, of many organisations: they take turns, so that one that sends much holds up only itself. */
export class TurnQueue<T> {
  /** By organisation, the one whose turn is next first; none is empty. */
  readonly #waiting = new Map<number, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(organizationId: number, item: T): void {
    const own = this.#waiting.get(organizationId);
    if (own === undefined) this.#waiting.set(organizationId, [item]);
    else own.push(item);
    this.#size++;
  }

  /** Takes the first of the organisation whose turn it is; undefined when nothing waits. */
  take(): T | undefined {
    for (const [organizationId, [first, ...others]] of this.#waiting) {
      this.#waiting.delete(organizationId);
      if (others.length > 0) this.#waiting.set(organizationId, others);
      this.#size--;
      return first;
    }
    return undefined;
  }
}

/** Lets at most `capacity` in at a time; who comes first is let in first. */
export class Gate {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(capacity: number) {
    this.#free = capacity;
  }

  async enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const place = Promise.withResolvers<void>();
    this.#waiting.push(place.resolve);
    await place.promise;
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}

/** Wakes those who wait for the durable end to move. */
export class DurableSignal {
  #next: PromiseWithResolvers<void> | undefined;

  /** Resolves at the next `notify`. */
  wait(): Promise<void> {
    this.#next ??= Promise.withResolvers<void>();
    return this.#next.promise;
  }

  notify(): void {
    this.#next?.resolve();
    this.#next = undefined;
  }
}

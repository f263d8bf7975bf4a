/** What the queues of all readers may hold together. */
export class QueueBudget {
  readonly #maxChars: number;
  #chars = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** False, and nothing is taken, when there is no room. */
  take(chars: number): boolean {
    if (this.#chars + chars > this.#maxChars) return false;
    this.#chars += chars;
    return true;
  }

  giveBack(chars: number): void {
    this.#chars -= chars;
  }
}

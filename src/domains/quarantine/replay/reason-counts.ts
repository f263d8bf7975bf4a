import { REPORTED_REASONS_MAX } from "../limits.ts";

/** Different reasons that are counted; reasons may carry pieces of the records. */
const REASONS_MAX = 1_000;

/** How often there was which reason. */
export class ReasonCounts {
  readonly #counts = new Map<string, number>();

  add(reason: string): void {
    const count = this.#counts.get(reason);
    if (count !== undefined) this.#counts.set(reason, count + 1);
    else if (this.#counts.size < REASONS_MAX) this.#counts.set(reason, 1);
  }

  /** The most frequent ones. */
  top(): { reason: string; records: number }[] {
    return [...this.#counts]
      .map(([reason, records]) => ({ reason, records }))
      .sort((a, b) => b.records - a.records || (a.reason < b.reason ? -1 : 1))
      .slice(0, REPORTED_REASONS_MAX);
  }
}

import type { SlotResult } from "../../../src/probes/index.ts";
import { PROBE_RESULTS_KEPT_MS, PROBE_RESULTS_MAX } from "../limits.ts";

/** A result and when it came, by a clock that never goes back. */
interface Kept {
  readonly result: SlotResult;
  readonly keptAtMs: number;
}

/** Results that the server has not said it has: ten minutes of them, the oldest first. */
export class ResultBuffer {
  #kept: Kept[] = [];

  get size(): number {
    return this.#kept.length;
  }

  add(results: readonly SlotResult[], nowMs: number): void {
    this.#kept.push(...results.map((result) => ({ result, keptAtMs: nowMs })));
    this.#forgetOld(nowMs);
  }

  /** What goes into the next call; it stays here until `sent` says otherwise. */
  next(nowMs: number): readonly SlotResult[] {
    this.#forgetOld(nowMs);
    return this.#kept.slice(0, PROBE_RESULTS_MAX).map(({ result }) => result);
  }

  /** The server has them. */
  sent(results: readonly SlotResult[]): void {
    const gone = new Set(results);
    this.#kept = this.#kept.filter(({ result }) => !gone.has(result));
  }

  #forgetOld(nowMs: number): void {
    const from = this.#kept.findIndex(({ keptAtMs }) => nowMs - keptAtMs <= PROBE_RESULTS_KEPT_MS);
    this.#kept = from === -1 ? [] : from === 0 ? this.#kept : this.#kept.slice(from);
  }
}

import type { Place } from "../concurrency/admission.ts";
import { LOW_PRIORITY_WAIT_MS, STATEMENT_SMALL_MAX_BYTES, STATEMENTS_MEMORY_SHARE } from "./limits.ts";

/** What a store has for its statements. */
export interface StoreCapacity {
  readonly memoryBytes: number;
  /** On how many threads it computes a statement by itself; null where it does not say. */
  readonly threads: number | null;
}

/** What of a store is for the statements of one admission. */
export interface StorePart {
  /** Of its memory, 0 to 1; those of all admissions together are 1 at most. */
  readonly memory: number;
  /** Statements that may run at a time. */
  readonly places: number;
}

/**
 * What a statement may take of the store, by what runs beside it. Beyond its memory a store refuses whatever asks next,
 * be it the smallest statement of somebody else; so the bounds of all statements together stay below it, however small
 * the store is.
 */
export class StatementBounds {
  readonly #threads: number | null;
  /** For those that have memory of their own, together. */
  readonly #sharedBytes: number;
  /** For each one that has not. */
  readonly #smallBytes: number;

  constructor({ memoryBytes, threads }: StoreCapacity, { memory, places }: StorePart) {
    this.#threads = threads;
    const partBytes = Math.floor(memoryBytes * memory);
    this.#sharedBytes = Math.floor(partBytes * STATEMENTS_MEMORY_SHARE);
    this.#smallBytes = Math.min(
      STATEMENT_SMALL_MAX_BYTES,
      Math.floor((partBytes - this.#sharedBytes) / places),
    );
  }

  /** The part of the shared memory that a statement takes which may use so many bytes. */
  memoryOf(wantedBytes: number): number {
    return wantedBytes <= this.#smallBytes ? 0 : Math.min(1, wantedBytes / this.#sharedBytes);
  }

  /** The settings of a statement that may use so many bytes, in the place it has. */
  settingsIn({ hasMemory, running, runningOfOne }: Place, wantedBytes: number): Record<string, string> {
    const bytes = Math.min(wantedBytes, hasMemory ? this.#sharedBytes : this.#smallBytes);
    return {
      max_memory_usage: String(bytes),
      // A store pauses whoever has a higher number at every block it reads, for as long as it is told.
      priority: String(runningOfOne),
      low_priority_query_wait_time_ms: String(LOW_PRIORITY_WAIT_MS),
      ...(this.#threads !== null && {
        max_threads: String(Math.max(1, Math.floor(this.#threads / running))),
      }),
      // One that needs more than there is for it now is to say so at once, and not to go on slowly on the disk.
      ...(!hasMemory && IN_MEMORY),
    };
  }
}

const IN_MEMORY = {
  max_bytes_ratio_before_external_group_by: "0",
  max_bytes_ratio_before_external_sort: "0",
};

/** How often is looked whether the engine rests. */
export const LOOK_EVERY_MS = 10_000;
/** A process that has used less than this share of one core since the last look rests. */
const RESTING_CPU_SHARE = 0.1;
/** CPU time in which so much may have come back that it is worth another look: some seconds of small statements. */
const WORTH_CPU_MS = 500;

interface RestingPagesOptions {
  /** A clock that never goes back, milliseconds. */
  readonly monotonicMs: () => number;
  /** CPU time of all threads so far, milliseconds. */
  readonly cpuMs: () => number;
  readonly unmap: () => void;
}

/**
 * Unmaps the pages of a program's file that work has left behind, once the process rests. What it needs again comes back from
 * the cache of the file, some 64 KiB at a time.
 */
export class RestingPages {
  readonly #options: RestingPagesOptions;
  #lastMs: number;
  #lastCpuMs: number;
  #unmappedCpuMs = 0;

  constructor(options: RestingPagesOptions) {
    this.#options = options;
    this.#lastMs = options.monotonicMs();
    this.#lastCpuMs = options.cpuMs();
  }

  look(): void {
    const nowMs = this.#options.monotonicMs();
    const cpuMs = this.#options.cpuMs();
    const isResting = cpuMs - this.#lastCpuMs < RESTING_CPU_SHARE * (nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    this.#lastCpuMs = cpuMs;
    if (!isResting || cpuMs - this.#unmappedCpuMs < WORTH_CPU_MS) return;
    this.#options.unmap();
    this.#unmappedCpuMs = cpuMs;
  }
}

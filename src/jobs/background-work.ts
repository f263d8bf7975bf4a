import { WorkLoop, type WorkLoopOptions } from "../concurrency/work-loop.ts";

interface BackgroundWorkOptions extends Omit<WorkLoopOptions, "work"> {
  /** How long its end is waited for. */
  readonly stopMs: number;
}

/** Something that is done again and again in the background: the class says what, and this when. */
export abstract class BackgroundWork {
  readonly #loop: WorkLoop;
  readonly #stopMs: number;

  constructor({ stopMs, ...options }: BackgroundWorkOptions) {
    this.#stopMs = stopMs;
    this.#loop = new WorkLoop({ ...options, work: (signal) => this.workOnce(signal) });
  }

  /** Does what there is to do; true when there may be more at once. */
  abstract workOnce(signal: AbortSignal): Promise<boolean>;

  start(): void {
    this.#loop.start();
  }

  /** There may be something to do. */
  wake(): void {
    this.#loop.wake();
  }

  stop(): Promise<void> {
    return this.#loop.stop(this.#stopMs);
  }
}

import { OutboundError } from "./outbound-error.ts";

interface Destroyable {
  destroy(): unknown;
}

/** What one piece of outbound work has open: all of it is closed when the work ends, in time or not. */
export class OutboundScope {
  readonly #deadlineAt: number;
  readonly #open = new Set<Destroyable>();
  #hasEnded = false;

  constructor(deadlineAt: number) {
    this.#deadlineAt = deadlineAt;
  }

  /** Milliseconds until the work must be over; none are negative. */
  get remainingMs(): number {
    return Math.max(0, this.#deadlineAt - performance.now());
  }

  /**
   * Answers what was opened, which lives no longer than the work. Throws OutboundError, `timeout`, and closes it when that has
   * ended already: what could not be aborted, such as resolving a name, came back too late.
   */
  hold<T extends Destroyable>(opened: T): T {
    if (this.#hasEnded) {
      opened.destroy();
      throw new OutboundError("timeout");
    }
    this.#open.add(opened);
    return opened;
  }

  end(): void {
    this.#hasEnded = true;
    for (const opened of this.#open) opened.destroy();
    this.#open.clear();
  }
}

/** Does `work` in at most `timeoutMs`, with one deadline over all of it. Throws what it throws, else OutboundError, `timeout`. */
export async function withinDeadline<T>(
  timeoutMs: number,
  work: (scope: OutboundScope) => Promise<T>,
): Promise<T> {
  const scope = new OutboundScope(performance.now() + timeoutMs);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new OutboundError("timeout")), timeoutMs);
  try {
    // Resolving a name cannot be aborted, so the race ends the wait for it.
    return await Promise.race([work(scope), late.promise]);
  } finally {
    clearTimeout(timer);
    scope.end();
  }
}

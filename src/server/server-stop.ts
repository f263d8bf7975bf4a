import type { Logger } from "../log.ts";

/** When the stop has not come to its end by itself: nothing acknowledged is lost, the next start recovers it. */
const STOP_DEADLINE_MS = 9_500;

export interface StoppableServer {
  /** Says to balancers that the server is about to stop, and goes on answering. */
  drain(): void;
  /** Stops everything, in the order in which data flows. */
  stop(): Promise<void>;
}

interface ServerStopOptions {
  readonly server: StoppableServer;
  /** How long requests are answered after SIGTERM while balancers send them elsewhere. */
  readonly drainMs: number;
  readonly log: Logger;
  /** Ends the process. */
  readonly exit: (code: number) => void;
}

/**
 * The one stop of a server, whoever asks for it. SIGTERM is how a machine stops a server that others may replace: it is
 * drained first. SIGINT is how a person at a terminal does: at once, also in the middle of a drain.
 */
export class ServerStop {
  readonly #options: ServerStopOptions;
  readonly #drained = Promise.withResolvers<void>();
  #isBegun = false;
  #exitCode = 0;

  constructor(options: ServerStopOptions) {
    this.#options = options;
  }

  onSignals(): void {
    process.on("SIGTERM", () => this.#begin(this.#options.drainMs, { signal: "SIGTERM" }));
    process.on("SIGINT", () => this.#begin(0, { signal: "SIGINT" }));
  }

  /** Something is wrong with the process itself: it stops at once, and says so to whoever started it. */
  afterFault(): void {
    this.#exitCode = 1;
    this.#begin(0, { reason: "an uncaught fault" });
  }

  #begin(drainMs: number, why: Readonly<Record<string, string>>): void {
    // A signal may come twice, from whoever sends it and from a parent that passes it on, so SIGTERM cuts no drain short.
    if (drainMs === 0) this.#drained.resolve();
    if (this.#isBegun) return;
    this.#isBegun = true;
    const { log, server } = this.#options;
    log.info({ ...why, drainMs }, "stopping");
    server.drain();
    const timer = setTimeout(this.#drained.resolve, drainMs);
    void this.#drained.promise.then(() => {
      clearTimeout(timer);
      return this.#stop();
    });
  }

  async #stop(): Promise<void> {
    const { log, server, exit } = this.#options;
    setTimeout(() => {
      log.warn("the stop took too long; what is left in the write-ahead log is stored at the next start");
      exit(this.#exitCode);
    }, STOP_DEADLINE_MS);
    try {
      await server.stop();
    } catch (error) {
      log.error({ err: error }, "the stop failed");
      this.#exitCode = 1;
    }
    exit(this.#exitCode);
  }
}

import { Worker } from "node:worker_threads";
import { THREAD_BACKOFF, THREAD_SETTLED_MS } from "./limits.ts";
import type { CheckThreadSettings, FromCheckThread, ToCheckThread } from "./messages.ts";
import type { Assignment, SlotResult } from "./schedule.ts";
import { monotonicMs, type SlotTime } from "./slot-clock.ts";
import type { Canary } from "./uplink.ts";

interface CheckThreadOptions {
  /** The thread's program, which calls `runCheckThread`. */
  readonly program: URL;
  /** What the program is begun with beside what every one is. */
  readonly settings: object;
  readonly canaries: readonly Canary[];
  readonly time: () => SlotTime;
  readonly onResults: (results: readonly SlotResult[]) => void;
  /** Checks find nothing out, for a reason that is our own. */
  readonly onFault: (message: string) => void;
  /** The thread died and was begun anew: it knows nothing of what it was assigned. */
  readonly onRestart: () => void;
  /** It died, and is begun anew after so long. */
  readonly onDeath: (error: unknown, delayMs: number) => void;
}

/** The thread that makes checks, as the others see it. One that dies is begun anew, sooner or later by how often it did. */
export class CheckThread {
  readonly #options: CheckThreadOptions;
  #thread: Worker | null = null;
  #beganMs = 0;
  #deaths = 0;
  #restart: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(options: CheckThreadOptions) {
    this.#options = options;
  }

  start(): void {
    const { program, settings, canaries, time, onResults, onFault } = this.#options;
    const workerData: CheckThreadSettings = {
      ...settings,
      canaries,
      time: time(),
      sentAtMs: monotonicMs(),
    };
    const thread = new Worker(program, { workerData });
    this.#thread = thread;
    this.#beganMs = monotonicMs();
    thread.on("message", (message: FromCheckThread) => {
      if (this.#thread !== thread) return;
      if (message.kind === "results") onResults(message.results);
      else onFault(message.message);
    });
    thread.on("error", (error) => this.#died(thread, error));
    thread.on("exit", () => this.#died(thread, new Error("the thread has ended")));
  }

  assign(assignments: readonly Assignment[]): void {
    if (assignments.length > 0) this.#tell({ kind: "assign", assignments });
  }

  drop(monitorIds: readonly number[]): void {
    if (monitorIds.length > 0) this.#tell({ kind: "drop", monitorIds });
  }

  goOn(mayStartUntilMs: number): void {
    this.#tell({ kind: "go_on", time: this.#options.time(), mayStartUntilMs, sentAtMs: monotonicMs() });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#restart);
    const thread = this.#thread;
    this.#thread = null;
    await thread?.terminate();
  }

  #tell(message: ToCheckThread): void {
    this.#thread?.postMessage(message);
  }

  #died(thread: Worker, error: unknown): void {
    if (this.#thread !== thread || this.#isStopped) return;
    this.#thread = null;
    this.#deaths = monotonicMs() - this.#beganMs > THREAD_SETTLED_MS ? 1 : this.#deaths + 1;
    const { baseMs, maxMs } = THREAD_BACKOFF;
    const delayMs = Math.min(baseMs * 2 ** (this.#deaths - 1), maxMs);
    this.#options.onDeath(error, delayMs);
    this.#restart = setTimeout(() => {
      this.start();
      this.#options.onRestart();
    }, delayMs);
  }
}

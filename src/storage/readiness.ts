import { fulfilledWithin } from "../concurrency/deadline.ts";
import type { Logger } from "../log.ts";
import type { EngineStatus } from "./embedded/supervisor.ts";
import {
  CLIENT_CLOSE_TIMEOUT_MS,
  READINESS_PROBE_INTERVAL_MS,
  READINESS_PROBE_TIMEOUT_MS,
  READINESS_RETRY_BASE_DELAY_MS,
  READINESS_RETRY_MAX_DELAY_MS,
} from "./limits.ts";

/** How a store is, in words fit for anybody: no addresses, no errors. */
export interface StoreStatus {
  readonly name: string;
  readonly ok: boolean;
  /** Whether what it had kept was found damaged when it started. */
  readonly isDamaged: boolean;
  /** A short sentence; empty when there is nothing to say. */
  readonly detail: string;
  /** When `ok` last changed. */
  readonly since: Date;
  /** How often the server has started an embedded engine again; 0 for a configured store. */
  readonly restarts: number;
}

interface StoreMonitorOptions {
  readonly name: string;
  /** Resolves when the store answers a query. It may hang; the monitor bounds it. */
  readonly probe: () => Promise<unknown>;
  /** The engine's process, for an embedded store. */
  readonly engine?: () => EngineStatus;
  /** What it could not read when it started; nothing by default. */
  readonly lostParts?: readonly string[];
  readonly log: Logger;
}

/**
 * Asks one store again and again whether it answers, more often at first and then with growing pauses while it does
 * not, and keeps the latest finding. Starts with the store counted as answering.
 */
export class StoreMonitor {
  readonly #options: StoreMonitorOptions;
  readonly #stop = Promise.withResolvers<void>();
  #loop: Promise<void> | null = null;
  #stopping = false;
  #ok = true;
  #since = new Date();

  constructor(options: StoreMonitorOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Ends the asking. A question on its way gets a moment to be answered: cut off, its connection would linger. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#stop.resolve();
    if (this.#loop !== null) await fulfilledWithin(this.#loop, CLIENT_CLOSE_TIMEOUT_MS);
  }

  /** The latest finding; an engine whose process is away is down at once, without waiting for a probe. */
  status(): StoreStatus {
    const engine = this.#options.engine?.();
    const restarts = engine?.restarts ?? 0;
    const isDamaged = (this.#options.lostParts ?? []).length > 0;
    const base = { name: this.#options.name, isDamaged, restarts };
    if (engine !== undefined && engine.state !== "running") {
      return { ...base, ok: false, detail: engineDetail(engine), since: engine.since };
    }
    if (!this.#ok) return { ...base, ok: false, detail: "Does not answer.", since: this.#since };
    const restarted =
      restarts === 0 ? "" : `Restarted ${restarts} time${restarts === 1 ? "" : "s"} after a crash.`;
    const detail = isDamaged ? "Some of what it kept could not be read when it started." : restarted;
    const since = engine !== undefined && engine.since > this.#since ? engine.since : this.#since;
    return { ...base, ok: true, detail, since };
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stopping) {
      failures = (await this.#probe()) ? 0 : failures + 1;
      const delayMs =
        failures === 0
          ? READINESS_PROBE_INTERVAL_MS
          : Math.min(READINESS_RETRY_BASE_DELAY_MS * 2 ** (failures - 1), READINESS_RETRY_MAX_DELAY_MS);
      await fulfilledWithin(this.#stop.promise, delayMs);
    }
  }

  async #probe(): Promise<boolean> {
    try {
      const answered = await fulfilledWithin(this.#options.probe(), READINESS_PROBE_TIMEOUT_MS);
      this.#update(
        answered,
        answered ? undefined : new Error(`no answer within ${READINESS_PROBE_TIMEOUT_MS} ms`),
      );
    } catch (error) {
      this.#update(false, error);
    }
    return this.#ok;
  }

  #update(ok: boolean, error: unknown): void {
    if (this.#stopping || ok === this.#ok) return;
    this.#ok = ok;
    this.#since = new Date();
    const store = this.#options.name;
    if (ok) this.#options.log.info({ store }, "store answers again");
    else this.#options.log.error({ store, err: error }, "store does not answer");
  }
}

function engineDetail(engine: EngineStatus): string {
  if (engine.state === "stopped") return "The embedded engine is stopped.";
  return engine.state === "starting"
    ? "The embedded engine is starting."
    : "The embedded engine has crashed and is about to be restarted.";
}

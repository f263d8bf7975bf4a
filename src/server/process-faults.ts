import type { Logger } from "../log.ts";
import type { UncaughtFaults } from "./process-metrics.ts";

/** Faults that are logged. The first one counts; a stop that brings thousands more must not fill the disk with them. */
const FAULTS_LOGGED_MAX = 16;

interface ProcessFaultsOptions {
  readonly log: Logger;
  readonly faults: UncaughtFaults;
  /** Stops the process in order; called once for each fault. */
  readonly stop: () => void;
}

/**
 * Hears of exceptions and rejections that nobody caught, which would end the process at once and without a word in its
 * log. Nobody knows what state such a fault leaves behind, so the process stops all the same, but in order.
 */
export function watchProcessFaults({ log, faults, stop }: ProcessFaultsOptions): void {
  let count = 0;
  const report = (kind: "exception" | "rejection", fault: unknown): void => {
    faults.inc({ kind });
    count += 1;
    const err = fault instanceof Error ? fault : new Error(`thrown: ${String(fault)}`);
    if (count <= FAULTS_LOGGED_MAX) log.fatal({ err, kind }, "a fault that nobody caught; the server stops");
    stop();
  };
  process.on("uncaughtException", (error) => report("exception", error));
  process.on("unhandledRejection", (reason) => report("rejection", reason));
}

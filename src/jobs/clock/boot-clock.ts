import { readFileSync } from "node:fs";

/** A reading of a clock that nobody can set. */
export interface BootTime {
  /** Tells what the clock counts from: readings with the same name can be compared. */
  readonly boot: string;
  readonly ms: number;
}

/**
 * Milliseconds since the machine was started, its sleep included, which also tells how long the server was stopped. Where
 * the system does not say, it counts from the start of this process.
 */
export function openBootClock(): () => BootTime {
  if (process.platform === "linux") {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return () => ({ boot, ms: Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1_000 });
  }
  const boot = crypto.randomUUID();
  return () => ({ boot, ms: performance.now() });
}

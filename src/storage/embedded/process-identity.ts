import { readFileSync } from "node:fs";

/** True when a process with this id exists, whoever owns it. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** The arguments a process was started with, joined by spaces; empty when it is gone or not readable. */
export function commandLineOf(pid: number): string {
  if (process.platform === "linux") {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    } catch {
      return "";
    }
  }
  const result = Bun.spawnSync(["ps", "-ww", "-o", "command=", "-p", String(pid)]);
  return result.success ? result.stdout.toString() : "";
}

/** Waits until the process is gone, at most `timeoutMs`; says whether it is. */
async function waitForDeath(pid: number, isOurs: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isProcessAlive(pid) && isOurs()) {
    if (performance.now() > deadline) return false;
    await Bun.sleep(20);
  }
  return true;
}

/**
 * Ends a process left behind by an earlier server: waits `graceMs` for it to go by itself, then kills it.
 * `marker` is a part of its command line that only ours have; a process without it is never touched.
 */
export async function endLeftover(
  pid: number,
  marker: string,
  options: { graceMs: number; firstSignal?: NodeJS.Signals },
): Promise<void> {
  const isOurs = () => commandLineOf(pid).includes(marker);
  const signal = (name: NodeJS.Signals) => {
    if (!isOurs()) return;
    try {
      process.kill(pid, name);
    } catch (error) {
      if (isProcessAlive(pid)) throw error;
    }
  };
  if (options.firstSignal !== undefined) signal(options.firstSignal);
  if (await waitForDeath(pid, isOurs, options.graceMs)) return;
  signal("SIGKILL");
  if (!(await waitForDeath(pid, isOurs, options.graceMs))) {
    throw new Error(`Process ${pid}, left behind by an earlier run, does not end.`);
  }
}

import { readFileSync, statSync } from "node:fs";

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

/** The path under which the system shows a process' working directory; null when it is gone or not to be seen. */
function workingDirectoryOf(pid: number): string | null {
  if (process.platform === "linux") return `/proc/${pid}/cwd`;
  const result = Bun.spawnSync(["lsof", "-a", "-d", "cwd", "-p", String(pid), "-Fn"]);
  return /^n(.+)$/m.exec(result.success ? result.stdout.toString() : "")?.[1] ?? null;
}

/**
 * Whether a process with `marker` in its command line works in `directory` itself. The folder is told by its file
 * system's number for it, because paths, markers and process ids in files come along when a folder is copied. Null
 * when the process has the marker and its folder cannot be seen.
 */
export function worksIn(pid: number, directory: string, marker: string): boolean | null {
  if (!commandLineOf(pid).includes(marker)) return false;
  try {
    const path = workingDirectoryOf(pid);
    if (path === null) return unseen(pid);
    const [theirs, ours] = [statSync(path, { bigint: true }), statSync(directory, { bigint: true })];
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch {
    return unseen(pid);
  }
}

/** A process that has ended, or is ending, works nowhere. */
function unseen(pid: number): false | null {
  return commandLineOf(pid) === "" ? false : null;
}

/** A process that an earlier server may have left behind in a folder. */
interface Leftover {
  readonly pid: number;
  /** Its working directory, which is what tells it from the process of another server. */
  readonly directory: string;
  /** A part of its command line. */
  readonly marker: string;
}

/**
 * Ends a process left behind by an earlier server: waits `graceMs` for it to go by itself, then kills it. One that
 * works elsewhere is not touched, which is answered with false. Throws when that cannot be told.
 */
export async function endLeftover(
  { pid, directory, marker }: Leftover,
  options: { graceMs: number; firstSignal?: NodeJS.Signals },
): Promise<boolean> {
  const isOurs = (): boolean => {
    const is = worksIn(pid, directory, marker);
    if (is !== null) return is;
    throw new Error(
      `Process ${pid} may be using ${directory}, which cannot be seen from here: stop it first.`,
    );
  };
  if (!isOurs()) return false;
  const signal = (name: NodeJS.Signals) => {
    if (!isOurs()) return;
    try {
      process.kill(pid, name);
    } catch (error) {
      if (isProcessAlive(pid)) throw error;
    }
  };
  if (options.firstSignal !== undefined) signal(options.firstSignal);
  if (await waitForDeath(pid, isOurs, options.graceMs)) return true;
  signal("SIGKILL");
  if (await waitForDeath(pid, isOurs, options.graceMs)) return true;
  throw new Error(`Process ${pid}, left behind by an earlier run, does not end.`);
}

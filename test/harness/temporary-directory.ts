import { chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where Linux keeps a file system in memory. */
const MEMORY = "/dev/shm";
/** Several times what a whole run of the tests holds at a moment. */
const ROOM_BYTES = 4 * 1024 ** 3;

/** A fresh folder of one test; disposing of it removes it. Use with `using`. */
export interface TemporaryDirectory extends Disposable {
  readonly path: string;
}

interface TemporaryDirectoryOptions {
  /** Programs in it are executed, which a file system in memory may forbid. */
  readonly holdsPrograms?: boolean;
}

/** Bun runs every test file in one process; what the files share hangs on the process, under a name nobody else takes. */
const KEY: unique symbol = Symbol.for("obs.test.data-folder");
const registry: typeof globalThis & { [KEY]?: string } = globalThis;

export function temporaryDirectory({
  holdsPrograms = false,
}: TemporaryDirectoryOptions = {}): TemporaryDirectory {
  const path = mkdtempSync(join(holdsPrograms ? tmpdir() : dataFolder(), "obs-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 10 }) };
}

/** Of all data of this process, removed with it: a test that is killed takes no memory afterwards. */
function dataFolder(): string {
  registry[KEY] ??= makeDataFolder();
  return registry[KEY];
}

function makeDataFolder(): string {
  const folder = mkdtempSync(join(dataRoot(), "obs-tests-"));
  // Postgres runs as an account of its own where tests run as root; what is private is so further below.
  chmodSync(folder, 0o711);
  sweepAfterwards(folder);
  return folder;
}

/**
 * In memory, where the machine has the room and nobody said `TMPDIR`. A database is some nine hundred small files, which a disk
 * that others write to makes in ten times the time, and whatever is synced waits for those others, too. Suites about what a
 * loss of power leaves have a disk of their own.
 */
function dataRoot(): string {
  if (process.platform !== "linux" || Bun.env.TMPDIR !== undefined) return tmpdir();
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/**
 * When this process is gone, ends the one that works in the directory, if it does not end by itself, and removes the
 * directory, again and again until nobody writes there any more.
 */
export function sweepAfterwards(directory: string, pid?: number): void {
  const end = pid === undefined ? "" : `kill -KILL ${pid} 2>/dev/null; `;
  const script = `cat >/dev/null; ${end}for try in 1 2 3 4 5 6 7 8; do sleep 1; rm -rf "$0"; done`;
  const sweeper = Bun.spawn(["sh", "-c", script, directory], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
    detached: true,
  });
  sweeper.unref();
}

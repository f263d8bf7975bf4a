import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { DataDirectoryLockedError, lockDataDirectory } from "../../src/storage/data-directory-lock.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

/** Takes the lock in another process, which says how that went and then waits until its input closes. */
async function lockElsewhere(directory: string) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "fixtures/lock-holder.ts"), directory], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  return { child, said: new TextDecoder().decode(value).trim() };
}

test("a second server is refused with a line that names the directory and the holder", async () => {
  using directory = temporaryDirectory();
  const { child, said } = await lockElsewhere(directory.path);
  expect(said).toBe("locked");
  const expected =
    `The data directory ${directory.path} is in use by another server (process ${child.pid}): ` +
    "stop that one, or set OBS_DATA_DIR to another directory.";
  expect(() => lockDataDirectory(directory.path)).toThrow(new DataDirectoryLockedError(expected));
  await child.stdin.end();
  await child.exited;
});

test("within one process the directory is taken once as well", () => {
  using directory = temporaryDirectory();
  const lock = lockDataDirectory(directory.path);
  expect(() => lockDataDirectory(directory.path)).toThrow(DataDirectoryLockedError);
  lock.release();
  lockDataDirectory(directory.path).release();
});

test("the lock goes with a holder killed with SIGKILL", async () => {
  using directory = temporaryDirectory();
  const { child } = await lockElsewhere(directory.path);
  child.kill("SIGKILL");
  await child.exited;
  lockDataDirectory(directory.path).release();
});

test("the directory is made readable by its owner only", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "deep", "data");
  lockDataDirectory(path).release();
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

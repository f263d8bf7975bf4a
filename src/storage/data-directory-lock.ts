import { Database, SQLiteError } from "bun:sqlite";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDirectoryDurably } from "./write-durably.ts";

/** Another server uses the data directory; the message names both. */
export class DataDirectoryLockedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DataDirectoryLockedError";
  }
}

export interface DataDirectoryLock {
  readonly release: () => void;
}

function holderOf(path: string): string {
  try {
    const pid = readFileSync(path, "utf8").trim();
    return /^\d+$/.test(pid) ? ` (process ${pid})` : "";
  } catch {
    // The holder has the lock but has not written its id yet.
    return "";
  }
}

function openLock(path: string): Database {
  try {
    return new Database(path, { create: true });
  } catch (error) {
    throw unusableLock(path, error);
  }
}

/** The file holds nothing, so it may go; but a server that runs would not notice, and would no longer keep others out. */
function unusableLock(path: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(
    `the lock ${path} cannot be used (${reason}): make sure that no server uses the directory, remove this file, ` +
      "which holds no data, and start again.",
    { cause },
  );
}

/**
 * Makes the data directory, readable by its owner only, and takes it for this process. The lock is the file lock of
 * an exclusive SQLite transaction: the kernel lets go of it when the process ends, however it ends, and it needs no
 * native code of ours. Throws `DataDirectoryLockedError` while another process, or this one, holds it.
 */
export function lockDataDirectory(directory: string): DataDirectoryLock {
  makeDirectoryDurably(directory);
  chmodSync(directory, 0o700);
  const holderPath = join(directory, "server.pid");
  const lockPath = join(directory, "server.lock");
  const database = openLock(lockPath);
  try {
    database.run("PRAGMA busy_timeout = 0");
    database.run("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (!(error instanceof SQLiteError)) throw error;
    if (error.code !== "SQLITE_BUSY") throw unusableLock(lockPath, error);
    throw new DataDirectoryLockedError(
      `The data directory ${directory} is in use by another server${holderOf(holderPath)}: ` +
        "stop that one, or set OBS_DATA_DIR to another directory.",
    );
  }
  chmodSync(lockPath, 0o600);
  writeFileSync(holderPath, `${process.pid}\n`, { mode: 0o600 });
  // The listener also keeps the lock from being collected as garbage, which would release it.
  const release = () => database.close();
  process.once("exit", release);
  return {
    release: () => {
      process.off("exit", release);
      release();
    },
  };
}

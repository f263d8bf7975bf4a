import { Database, SQLiteError } from "bun:sqlite";
import { chmodSync, mkdirSync, utimesSync } from "node:fs";
import { dirname } from "node:path";
import { CliError, FileProblem } from "../cli-error.ts";

/**
 * Takes `path` for this process until it ends or lets go: two runs of one file would each ship all of it. The lock is the
 * file lock of an exclusive SQLite transaction: the kernel lets go of it however the process ends, so a killed run is not
 * in the way of the next one. Throws CliError while another process holds it.
 */
export function takeShipLock(path: string, now: Date): Disposable {
  let database: Database | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    database = new Database(path, { create: true });
    database.run("PRAGMA busy_timeout = 0");
    database.run("BEGIN EXCLUSIVE");
    chmodSync(path, 0o600);
    // Files that no run has touched for long are removed; locking alone does not touch.
    utimesSync(path, now, now);
  } catch (error) {
    database?.close();
    if (error instanceof SQLiteError && error.code === "SQLITE_BUSY")
      throw new FileProblem("another obs ship of this file to this server is running", { cause: error });
    throw new CliError(`cannot lock ${path}`, { cause: error });
  }
  const held = database;
  return { [Symbol.dispose]: () => held.close() };
}

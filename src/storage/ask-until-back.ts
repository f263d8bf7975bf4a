import { setTimeout as pause } from "node:timers/promises";
import { DependencyError } from "../errors.ts";
import { askPostgres } from "./ask-postgres.ts";

/** While Postgres is away, how often and how many times it is asked: for some minutes. */
const RETRY_MS = 250;
const RETRIES_MAX = 500;

/**
 * Runs queries as `askPostgres` does, and while Postgres is away again and again: for what has happened and has to be
 * written, or else somebody waits for a lease that nobody holds any more. Throws what `askPostgres` throws in the end.
 */
export async function askUntilBack<T>(work: () => Promise<T>, isStopped: () => boolean): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await askPostgres(work);
    } catch (error) {
      const isAway = error instanceof DependencyError;
      if (!isAway || isStopped() || retries >= RETRIES_MAX) throw error;
      await pause(RETRY_MS, undefined, { ref: false });
    }
  }
}

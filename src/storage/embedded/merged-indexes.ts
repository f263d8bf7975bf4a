import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { syncNow } from "../write-durably.ts";

/** How often is looked for parts that were merged: several times within `OLD_PARTS_LIFETIME_S`. */
export const SYNC_EVERY_MS = 5_000;
/** What was written longer ago the kernel has written to the disk by itself, after half a minute or so. */
export const RECENT_MS = 3_600_000;

/** Of parts that were made of others, or of one by a change of it: such a level, or the number of the change, is in their names. */
const MADE_PART = /^[^_]+_\d+_\d+_(?:[1-9]\d*(?:_\d+)?|0_\d+)$/;
const INDEX_FILE = /^skp_idx_/;

/**
 * Makes indexes of merged parts survive a power cut. ClickHouse before 26.8 syncs every file of a part that it merged but those of
 * text indexes (its issue 111269), and a part with a file that is not as its checksums say is put aside with all of its rows.
 * Until an index is synced, what the part was merged of is still there: see `OLD_PARTS_LIFETIME_S`.
 */
export class MergedIndexes {
  readonly #tables: string;
  #synced: ReadonlySet<string> = new Set();

  /** Of all tables of an engine that keeps them in `storePath`. */
  constructor(storePath: string) {
    this.#tables = join(storePath, "store");
  }

  /** Syncs indexes of parts that are new since the last call, of those that were made since `sinceMs`, milliseconds since 1970. */
  sync(sinceMs = 0): void {
    const synced = new Set<string>();
    for (const part of this.#parts()) {
      if (!this.#synced.has(part)) whileThere(() => syncIndexes(part, sinceMs));
      synced.add(part);
    }
    this.#synced = synced;
  }

  *#parts(): Generator<string> {
    for (const group of namesIn(this.#tables))
      for (const table of namesIn(join(this.#tables, group)))
        for (const name of namesIn(join(this.#tables, group, table)))
          if (MADE_PART.test(name)) yield join(this.#tables, group, table, name);
  }
}

function syncIndexes(part: string, sinceMs: number): void {
  if (statSync(part).mtimeMs < sinceMs) return;
  for (const name of readdirSync(part)) if (INDEX_FILE.test(name)) syncNow(join(part, name));
  syncNow(part);
}

function namesIn(directory: string): readonly string[] {
  return whileThere(() => readdirSync(directory)) ?? [];
}

/** A part, or a table, may go while it is looked at; null then. */
function whileThere<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return null;
    throw error;
  }
}

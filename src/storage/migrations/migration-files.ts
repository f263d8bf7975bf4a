import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MigrationError } from "./migration-error.ts";

export interface Migration {
  readonly version: number;
  /** The file's name without folder. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, in hex. */
  readonly checksum: string;
}

/** What a store remembers of a migration it has. */
export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
}

/** Reads the `NNNN_name.sql` files of a folder in order. Their numbers count from 1 without a gap. */
export function readMigrations(directory: string): Migration[] {
  const names = readdirSync(directory)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  return names.map((name, index) => {
    const version = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]);
    if (version !== index + 1) {
      const expected = String(index + 1).padStart(4, "0");
      throw new MigrationError(`${join(directory, name)}: expected a file named ${expected}_name.sql here.`);
    }
    const sql = readFileSync(join(directory, name), "utf8");
    return { version, name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
  });
}

/**
 * The migrations still to be applied. Refuses when one that was applied has changed since, or when the store has
 * migrations this version of the server does not know.
 */
export function pendingMigrations(
  store: string,
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): Migration[] {
  const appliedByVersion = new Map(applied.map((entry) => [entry.version, entry]));
  for (const entry of applied) {
    const migration = known[entry.version - 1];
    if (migration === undefined) {
      throw new MigrationError(
        `${store} has migration ${entry.name}, which this version does not know: start a version that does.`,
      );
    }
    if (migration.checksum !== entry.checksum) {
      throw new MigrationError(
        `${store} migration ${migration.name} was changed after it was applied (as ${entry.name}): ` +
          "restore the file and put the change into a new migration.",
      );
    }
  }
  return known.filter((migration) => !appliedByVersion.has(migration.version));
}

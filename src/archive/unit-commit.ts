import type { Sql } from "postgres";
import { type ArchiveFiles, fileName } from "./files/archive-files.ts";
import { hotRetentionOf } from "./hot-retention.ts";
import { beginAttempt, forgetAttempt } from "./ledger/attempt-store.ts";
import {
  type ClaimedUnit,
  commitUnit,
  countAttempt,
  type FileFacts,
  UNITS,
  type UnitKey,
} from "./ledger/unit-store.ts";
import { findRetention } from "./retention/store.ts";
import type { ArchiveStatements } from "./statements.ts";
import type { StepObserver } from "./steps.ts";

export interface UnitCommitOptions {
  readonly sql: Sql;
  readonly statements: ArchiveStatements;
  readonly files: ArchiveFiles;
  /** Days in the log store of organisations that have set none. */
  readonly defaultDays: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly onStep: StepObserver;
}

/**
 * Brings the entries of a planned unit into the archive: into a file that, read back from where it lies, has as many
 * entries as the log store has of these, and the same sum of hashes. The number of entries; 0 when there was nothing
 * to do.
 *
 * Until the last step nobody reads the file and the log store has everything. Every attempt begins anew, under a
 * number and a name of its own; what the one before has left is removed later. Which entries are meant is fixed before
 * they are written: what arrives for the same day meanwhile is neither written nor deleted, the next sweep finds it.
 */
export async function archiveUnit(
  options: UnitCommitOptions,
  unit: ClaimedUnit,
  today: string,
  signal: AbortSignal,
): Promise<number> {
  const { sql, statements, files, defaultDays, now, onStep } = options;
  const { attempt, file } = await beginAttempt(sql, unit, (number) => nameOf(unit, number), now());
  if (!(await countAttempt(sql, unit, attempt))) throw new Error("another instance has taken over");
  onStep("begun", unit);

  const retention = hotRetentionOf(await findRetention(sql, unit.organizationId), defaultDays);
  const staged = await statements.stage(unit, attempt, retention, today, signal);
  onStep("staged", unit);
  if (staged === 0) {
    await UNITS.remove(sql, unit);
    await forgetAttempt(sql, attempt);
    return 0;
  }

  await statements.write(unit, attempt, file, signal);
  onStep("written", unit);
  await files.settle(file);
  onStep("settled", unit);

  const facts = await verifiedFacts(statements, unit, { attempt, file }, signal);
  if (facts.rows !== staged) throw new Error("entries vanished while they were being archived");
  onStep("verified", unit);
  if (!(await commitUnit(sql, unit, facts))) throw new Error("another instance has taken over");
  onStep("committed", unit);
  return facts.rows;
}

/** What the file has, which is what the log store has. */
async function verifiedFacts(
  statements: ArchiveStatements,
  unit: UnitKey,
  { attempt, file }: { attempt: number; file: string },
  signal: AbortSignal,
): Promise<FileFacts> {
  const hot = await statements.digestHot(unit, attempt, signal);
  const read = await statements.digestFile(file, signal);
  if (read.rows !== hot.rows || read.checksum !== hot.checksum)
    throw new Error("the archived file is not what the log store has");
  if (read.firstOrganizationId !== unit.organizationId || read.lastOrganizationId !== unit.organizationId)
    throw new Error("the archived file has entries of another organisation");
  const { rows, bytes, checksum, minTs, maxTs } = read;
  return { file, rows, bytes, checksum, minTs, maxTs };
}

const RANDOM_BYTES = 8;

function nameOf({ organizationId, day }: UnitKey, attempt: number): string {
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))).toString("hex");
  return fileName(organizationId, day, attempt, random);
}

import { setTimeout as pause } from "node:timers/promises";
import type { Sql } from "postgres";
import type { FileDigest, RowsDigest } from "./digests.ts";
import { forgetAttempt } from "./ledger/attempt-store.ts";
import { type CommittedUnit, finishUnit, planUnit, replanUnit } from "./ledger/unit-store.ts";
import { DELETION_MAX_MS, DELETION_POLL_MAX_MS, DELETION_POLL_MIN_MS, UNIT_MAX_ROWS } from "./limits.ts";
import type { ArchiveStatements } from "./statements.ts";
import type { StepObserver } from "./steps.ts";

export interface HotDeletionOptions {
  readonly sql: Sql;
  readonly statements: ArchiveStatements;
  readonly onStep: StepObserver;
}

/**
 * Throws unless the file of the unit is what was verified when it was committed, which may be long ago. A file that is
 * not, or that cannot be read, while the log store still has everything, is given up: the unit is planned anew. Afterwards
 * the entries that are fixed for the deletion are those of the file.
 */
export async function checkArchived(
  options: HotDeletionOptions,
  unit: CommittedUnit,
  signal: AbortSignal,
): Promise<void> {
  const { statements } = options;
  const { attempt, facts } = unit;
  let read: FileDigest;
  try {
    read = await statements.digestFile(facts.file, signal);
    if (!isSame(read, facts)) throw new Error("the archived file has changed since it was verified");
  } catch (error) {
    signal.throwIfAborted();
    const hot = await statements.digestHot(unit, attempt, signal);
    if (isSame(hot, facts)) await replanUnit(options.sql, unit);
    throw error;
  }
  const staged = await statements.digestStaged(attempt, signal);
  if (staged.rows === read.rows && staged.ids === read.ids) return;
  await statements.dropStaged(attempt, signal);
  await statements.stageFrom(facts.file, attempt, signal);
}

function isSame(left: RowsDigest, right: RowsDigest): boolean {
  return left.rows === right.rows && left.checksum === right.checksum;
}

/**
 * The log store lets go of what the archive has of these units, whose files have just been checked. All of them in one
 * mutation: ClickHouse takes every part of the table in hand for each. Doing it again does nothing. Throws when the log
 * store still has any of the entries.
 */
export async function deleteArchived(
  options: HotDeletionOptions,
  units: readonly CommittedUnit[],
  signal: AbortSignal,
): Promise<void> {
  const { statements, onStep } = options;
  // One that was cut off goes on by itself, also after a restart of the store.
  await deletionsSettled(options, signal);
  await statements.deleteHot(units, signal);
  await deletionsSettled(options, signal);
  if ((await statements.hotRowsLeft(units, signal)) > 0)
    throw new Error("the log store still has entries that it has deleted");
  // What is fixed for the deletion is what was deleted; a statement of one that died may have come in between.
  for (const { attempt, facts } of units)
    if ((await statements.digestStaged(attempt, signal)).rows !== facts.rows)
      throw new Error("what is fixed for the deletion has changed meanwhile");
  for (const unit of units) onStep("deleted", unit);
  for (const unit of units) await finish(options, unit, signal);
}

async function finish(
  { sql, statements, onStep }: HotDeletionOptions,
  unit: CommittedUnit,
  signal: AbortSignal,
): Promise<void> {
  if (!(await finishUnit(sql, unit))) return;
  onStep("finished", unit);
  await statements.dropStaged(unit.attempt, signal);
  await forgetAttempt(sql, unit.attempt);
  onStep("cleaned", unit);
  // There were more entries than one unit takes.
  if (unit.facts.rows >= UNIT_MAX_ROWS) await planUnit(sql, unit.organizationId, unit.day);
}

/** Waits until no deletion of archived entries is under way. */
async function deletionsSettled({ statements }: HotDeletionOptions, signal: AbortSignal): Promise<void> {
  const startMs = performance.now();
  for (let waitMs = DELETION_POLL_MIN_MS; ; waitMs = Math.min(waitMs * 2, DELETION_POLL_MAX_MS)) {
    if ((await statements.deletionsUnderWay(signal)) === 0) return;
    if (performance.now() - startMs > DELETION_MAX_MS)
      throw new Error("the log store takes too long to delete archived entries");
    await pause(waitMs, undefined, { signal });
  }
}

import type { Sql } from "postgres";
import type { ArchiveFiles } from "./files/archive-files.ts";
import { type HotRetention, hotRetentionOf, lastExpiredDay, shortestDays } from "./hot-retention.ts";
import { expireUnits, findLeftovers, forgetAttempt } from "./ledger/attempt-store.ts";
import { planUnit } from "./ledger/unit-store.ts";
import {
  LEFTOVER_AGE_MS,
  RETENTION_PAGE,
  SWEEP_MAX_DAYS,
  SWEEP_MAX_EXPIRED,
  SWEEP_MAX_LEFTOVERS,
} from "./limits.ts";
import { listRetentions } from "./retention/store.ts";
import type { ArchiveStatements } from "./statements.ts";

export interface SweepOptions {
  readonly sql: Sql;
  readonly statements: ArchiveStatements;
  readonly files: ArchiveFiles;
  readonly defaultDays: number;
  /** Days after which archived entries are deleted; 0 keeps them for ever. */
  readonly archiveDays: number;
  readonly now: () => number;
}

/** Plans what has to be archived by `today`, on one instance at a time; planning it twice changes nothing. */
export async function planExpired(options: SweepOptions, today: string, signal: AbortSignal): Promise<void> {
  const { sql, statements, defaultDays } = options;
  const custom: number[] = [];
  for (let afterId = 0; ; ) {
    const page = await listRetentions(sql, afterId, RETENTION_PAGE);
    for (const { organizationId, settings } of page) {
      if (signal.aborted) return;
      custom.push(organizationId);
      await planOrganization(options, organizationId, hotRetentionOf(settings, defaultDays), today, signal);
    }
    afterId = page.at(-1)?.organizationId ?? 0;
    if (page.length < RETENTION_PAGE) break;
  }
  if (defaultDays === 0) return;
  const days = await statements.oldDays(lastExpiredDay(today, defaultDays), custom, SWEEP_MAX_DAYS, signal);
  for (const { organizationId, day } of days) await planUnit(sql, organizationId, day);
}

async function planOrganization(
  { sql, statements }: SweepOptions,
  organizationId: number,
  retention: HotRetention,
  today: string,
  signal: AbortSignal,
): Promise<void> {
  const shortest = shortestDays(retention);
  if (shortest === null) return;
  const bounds = { today, lastDay: lastExpiredDay(today, shortest), limit: SWEEP_MAX_DAYS };
  for (const day of await statements.expiredDays(organizationId, retention, bounds, signal))
    await planUnit(sql, organizationId, day);
}

/** Removes what attempts that came to nothing have left, and archived files whose time is over. */
export async function removeLeftovers(
  options: SweepOptions,
  today: string,
  signal: AbortSignal,
): Promise<void> {
  const { sql, statements, files, archiveDays, now } = options;
  if (archiveDays > 0) await expireUnits(sql, lastExpiredDay(today, archiveDays), SWEEP_MAX_EXPIRED, now());
  for (const { attempt, file } of await findLeftovers(sql, now() - LEFTOVER_AGE_MS, SWEEP_MAX_LEFTOVERS)) {
    if (signal.aborted) return;
    await statements.dropStaged(attempt, signal);
    if (file !== null) await files.remove(file);
    await forgetAttempt(sql, attempt);
  }
}

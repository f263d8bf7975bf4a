import type { Sql } from "postgres";
import { findRetention, lockRetention, putRetention } from "../../../archive/retention/store.ts";
import {
  NO_RETENTION_SETTINGS,
  type RetentionAnswer,
  type RetentionBody,
  type RetentionSettings,
} from "../../../archive/retention/types.ts";
import type { Change } from "../../../changes/change.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { inOrganization } from "../../../storage/organization-transaction.ts";

/** What the organisation has set, beside the server's default. */
export async function readRetention(
  sql: Sql,
  organizationId: number,
  defaultDays: number,
): Promise<RetentionAnswer> {
  const settings = await askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => findRetention(tx, organizationId)),
  );
  return answerOf(settings ?? NO_RETENTION_SETTINGS, defaultDays);
}

/**
 * Takes the settings in place of those before. They hold for what is archived from now on: what the archive has
 * already stays there.
 */
export async function changeRetention(
  change: Change,
  { days, rules = [] }: RetentionBody,
  defaultDays: number,
): Promise<RetentionAnswer> {
  const { tx, organizationId, nowMs } = change;
  const before = (await lockRetention(tx, organizationId)) ?? NO_RETENTION_SETTINGS;
  const after: RetentionSettings = {
    days,
    rules: rules.map((rule) => ({
      service: rule.service ?? null,
      level: rule.level ?? null,
      days: rule.days,
    })),
  };
  await putRetention(tx, organizationId, after, nowMs);
  change.record({ resource: "log-retention", before, after });
  return answerOf(after, defaultDays);
}

function answerOf({ days, rules }: RetentionSettings, defaultDays: number): RetentionAnswer {
  return { days, defaultDays, rules: [...rules] };
}

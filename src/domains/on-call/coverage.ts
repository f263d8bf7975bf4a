import type { Sql } from "postgres";
import { validationFailed } from "../../errors.ts";
import { requireAskable } from "../../on-call/asked-range.ts";
import { COVERAGE_DEFAULT_MS, COVERAGE_MAX_MS, GAPS_MAX } from "../../on-call/limits.ts";
import { memberAddresses, rotationsBetween } from "../../on-call/rotation-store.ts";
import { shiftsBetween } from "../../on-call/shifts.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { listSchedules } from "./schedules.ts";
import type { Coverage } from "./types.ts";

interface CoverageRange {
  /** ISO-8601; the present and four weeks later when absent. */
  readonly from?: string;
  readonly to?: string;
}

/** When nobody would be reached, in every schedule of the organisation. Throws VALIDATION_FAILED. */
export async function reportCoverage(
  sql: Sql,
  organizationId: number,
  range: CoverageRange,
  nowMs: number,
): Promise<Coverage> {
  const from = range.from === undefined ? nowMs : Date.parse(range.from);
  const to = range.to === undefined ? from + COVERAGE_DEFAULT_MS : Date.parse(range.to);
  requireAskable("/from", from, to);
  if (to <= from || to - from > COVERAGE_MAX_MS)
    throw validationFailed([
      { path: "/to", code: "custom", message: "must be later than `from`, by at most 400 days" },
    ]);
  const schedules = await listSchedules(sql, organizationId);
  const { rotations, members } = await askPostgres(() =>
    inOrganization(sql, organizationId, async (tx) => ({
      rotations: await rotationsBetween(tx, organizationId, { from: new Date(from), to: new Date(to) }),
      members: await memberAddresses(tx, organizationId),
    })),
  );
  const gaps = schedules.flatMap(({ id }) => {
    const own = rotations.filter(({ scheduleId }) => scheduleId === id);
    return shiftsBetween(own, { from, to }, (userId) => members.has(userId))
      .filter(({ userId }) => userId === null)
      .map((shift) => ({
        scheduleId: id,
        from: new Date(shift.from).toISOString(),
        to: new Date(shift.to).toISOString(),
      }));
  });
  const absent = rotations.flatMap(({ id: rotationId, scheduleId, userId, override }) =>
    [userId, ...(override === null ? [] : [override.userId])]
      .filter((person) => !members.has(person))
      .map((person) => ({ scheduleId, rotationId, userId: person })),
  );
  return {
    gaps: gaps.slice(0, GAPS_MAX),
    absent: absent.slice(0, GAPS_MAX),
    truncated: gaps.length > GAPS_MAX || absent.length > GAPS_MAX,
  };
}

import ical, { ICalCalendarMethod } from "ical-generator";
import type { Sql } from "postgres";
import { hashToken } from "../../access/secret-token.ts";
import { ApiError } from "../../errors.ts";
import { CALENDAR_FUTURE_MS, CALENDAR_PAST_MS } from "../../on-call/limits.ts";
import { memberAddresses, rotationsBetween } from "../../on-call/rotation-store.ts";
import { shiftsBetween } from "../../on-call/shifts.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { findCalendar } from "./store.ts";

const HOUR_SECONDS = 3600;

/**
 * The shifts of the schedule that a token opens, as RFC 5545 has them, from a month ago until half a year from now. A shift
 * keeps its name from one answer to the next, so that calendars change it instead of doubling it. Throws NOT_FOUND.
 */
export async function readCalendar(sql: Sql, token: string, nowMs: number): Promise<string> {
  const found = await askPostgres(() => findCalendar(sql, hashToken(token)));
  if (found === null) throw new ApiError("NOT_FOUND", "No such calendar.");
  const { organizationId, scheduleId, name } = found;
  const range = { from: nowMs - CALENDAR_PAST_MS, to: nowMs + CALENDAR_FUTURE_MS };
  const {
    from: earliest,
    rotations,
    members,
  } = await askPostgres(() =>
    inOrganization(sql, organizationId, async (tx) => {
      const shown = (from: number) =>
        rotationsBetween(tx, organizationId, { from: new Date(from), to: new Date(range.to), scheduleId });
      // A shift that is under way is named after its own start, not after where this answer begins.
      const from = Math.min(range.from, ...(await shown(range.from)).map(({ startsAt }) => startsAt));
      return { from, rotations: await shown(from), members: await memberAddresses(tx, organizationId) };
    }),
  );
  const calendar = ical({
    name,
    prodId: { company: "obs", product: "on-call" },
    ttl: HOUR_SECONDS,
    method: ICalCalendarMethod.PUBLISH,
  });
  const shifts = shiftsBetween(rotations, { from: earliest, to: range.to }, (member) => members.has(member));
  for (const { from, to, userId } of shifts) {
    if (userId === null || to <= range.from) continue;
    calendar.createEvent({
      id: `schedule-${scheduleId}-${from}-${userId}@obs`,
      stamp: new Date(from),
      start: new Date(from),
      end: new Date(to),
      summary: `${name}: ${members.get(userId) ?? ""}`,
    });
  }
  return calendar.toString();
}

import type { Sql } from "postgres";
import { hashToken, mintLinkToken } from "../../access/secret-token.ts";
import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { isTimezone } from "../../on-call/generate.ts";
import { SCHEDULES_MAX } from "../../on-call/limits.ts";
import { memberAddresses, rotationsBetween } from "../../on-call/rotation-store.ts";
import { onCallAt } from "../../on-call/shifts.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { requireSchedule } from "./require-schedule.ts";
import { listRotations } from "./rotations.ts";
import { hasCalendar, policiesAsking, setCalendarToken } from "./store.ts";
import {
  type CreateScheduleBody,
  Schedule,
  type ScheduleWithRotations,
  type UpdateScheduleBody,
} from "./types.ts";

export const schedules = new Records<typeof Schedule, CreateScheduleBody, UpdateScheduleBody>({
  noun: "schedule",
  table: "on_call_schedules",
  schema: Schedule,
  maxPerOrganization: SCHEDULES_MAX,
  check: ({ timezone }) => {
    if (timezone !== undefined && !isTimezone(timezone))
      throw validationFailed([
        {
          path: "/timezone",
          code: "custom",
          message: "is no zone of the tz database, such as Europe/Berlin",
        },
      ]);
  },
});
export const { create: createSchedule, update: updateSchedule } = schedules;

export function listSchedules(sql: Sql, organizationId: number): Promise<Schedule[]> {
  return schedules.list(sql, organizationId);
}

/** A schedule, its turns that have not ended, and who is on call now. Throws NOT_FOUND. */
export async function readSchedule(
  sql: Sql,
  organizationId: number,
  id: number,
  nowMs: number,
): Promise<ScheduleWithRotations> {
  const schedule = await schedules.read(sql, organizationId, id);
  const now = new Date(nowMs);
  return askPostgres(() =>
    inOrganization(sql, organizationId, async (tx) => {
      const present = { from: now, to: new Date(nowMs + 1), scheduleId: id };
      const current = await rotationsBetween(tx, organizationId, present);
      const members = await memberAddresses(tx, organizationId);
      const userId = onCallAt(current, nowMs, (member) => members.has(member));
      return {
        ...schedule,
        rotations: await listRotations(tx, organizationId, id, now),
        currentOnCallUser: userId === null ? null : { id: userId, email: members.get(userId) ?? "" },
        hasCalendar: await hasCalendar(tx, organizationId, id),
      };
    }),
  );
}

/** Throws NOT_FOUND, and CONFLICT while a policy asks the schedule. */
export async function removeSchedule(change: Change, id: number): Promise<void> {
  const { tx, organizationId } = change;
  await requireSchedule(change, id);
  const asking = await policiesAsking(tx, organizationId, id);
  if (asking.length > 0)
    throw new ApiError("CONFLICT", `Policies ask this schedule: ${asking.join(", ")}. Change them first.`);
  await schedules.remove(change, id);
}

/** A new address for calendars; the one before ends. Throws NOT_FOUND. */
export async function openCalendar(change: Change, id: number): Promise<string> {
  await requireSchedule(change, id);
  const token = mintLinkToken();
  await setCalendarToken(change.tx, change.organizationId, id, hashToken(token));
  change.record({ resource: `schedule:${id}`, after: { calendar: true } });
  return token;
}

/** Ends the address for calendars. Throws NOT_FOUND. */
export async function closeCalendar(change: Change, id: number): Promise<void> {
  await requireSchedule(change, id);
  await setCalendarToken(change.tx, change.organizationId, id, null);
  change.record({ resource: `schedule:${id}`, before: { calendar: true } });
}

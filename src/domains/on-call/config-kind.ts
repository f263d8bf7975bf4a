import type { TransactionSql } from "postgres";
import { type Static, Type } from "typebox";
import type { JsonObject, JsonValue } from "../../audit/canonical-json.ts";
import type { Change } from "../../changes/change.ts";
import { configKind, PEOPLE } from "../../configuration/config-kind.ts";
import { isJsonList, isJsonObject } from "../../configuration/json.ts";
import { ROTATIONS_MAX } from "../../on-call/limits.ts";
import { createRotation, listRotations, removeRotation } from "./rotations.ts";
import { createSchedule, removeSchedule, schedules, updateSchedule } from "./schedules.ts";
import { CreateRotationBody, CreateScheduleBody, type RotationRecord, UpdateScheduleBody } from "./types.ts";

/** Files may still say what has ended by now. */
const rotations = Type.Optional(Type.Array(CreateRotationBody, { maxItems: 2 * ROTATIONS_MAX }));
const closed = { additionalProperties: false };
const CreateBody = Type.Object({ ...CreateScheduleBody.properties, rotations }, closed);
type CreateBody = Static<typeof CreateBody>;
const UpdateBody = Type.Object({ ...UpdateScheduleBody.properties, rotations }, closed);
type UpdateBody = Static<typeof UpdateBody>;
type Turn = Static<typeof CreateRotationBody>;

/** Schedules with their turns as files describe them: of the turns those that have not ended. */
export const scheduleKind = configKind({
  kind: "on-call-schedules",
  audit: "SCHEDULE",
  table: "on_call_schedules",
  read: { role: "viewer", scope: "on-call:read" },
  write: { role: "member", scope: "on-call:write" },
  create: CreateBody,
  update: UpdateBody,
  defaults: { timezone: "UTC", rotations: [] },
  references: [
    { at: ["rotations", "*", "userId"], to: PEOPLE },
    { at: ["rotations", "*", "overrideUserId"], to: PEOPLE },
  ],
  canonical: (fields, nowMs) => ({ ...fields, rotations: openTurns(fields.rotations ?? [], nowMs) }),
  list: async (tx, organizationId, limit) => {
    const found = await schedules.listIn(tx, organizationId, limit);
    const listed: { id: number; fields: object }[] = [];
    for (const schedule of found) {
      const turns = await turnsOf(tx, organizationId, schedule.id);
      listed.push({ id: schedule.id, fields: { ...schedule, rotations: turns.map(said) } });
    }
    return listed;
  },
  make: async (change, { rotations = [], ...body }: CreateBody) => {
    const schedule = await createSchedule(change, body);
    await setTurns(change, schedule.id, rotations);
    return schedule;
  },
  change: async (change, id, { rotations, ...body }: UpdateBody) => {
    if (Object.keys(body).length > 0) await updateSchedule(change, Number(id), body);
    if (rotations !== undefined) await setTurns(change, Number(id), rotations);
  },
  remove: (change, id) => removeSchedule(change, Number(id)),
});

/** Every turn of a schedule that may not have ended yet, by whichever clock. */
function turnsOf(tx: TransactionSql, organizationId: number, id: number): Promise<RotationRecord[]> {
  return listRotations(tx, organizationId, id, new Date(0));
}

/** What was said of a turn. */
function said({ userId, startsAt, endsAt, ...override }: RotationRecord): Turn {
  const { overrideUserId, overrideStartsAt, overrideEndsAt } = override;
  return { userId, startsAt, endsAt, overrideUserId, overrideStartsAt, overrideEndsAt };
}

/** Makes the open turns of a schedule those that are given; what is alike stays as it is. */
async function setTurns(change: Change, id: number, wanted: readonly Turn[]): Promise<void> {
  const present = (await turnsOf(change.tx, change.organizationId, id)).filter(
    ({ endsAt }) => Date.parse(endsAt) > change.nowMs,
  );
  const missing = [...wanted];
  for (const turn of present) {
    const at = missing.findIndex((each) => keyOf(each) === keyOf(said(turn)));
    if (at === -1) await removeRotation(named(change, "DELETE_ROTATION"), id, turn.id);
    else missing.splice(at, 1);
  }
  for (const turn of missing) await createRotation(named(change, "CREATE_ROTATION"), id, turn);
}

/** What changes of turns are recorded as, beside those of their schedule. */
function named(change: Change, action: string): Change {
  return { ...change, record: (entry) => change.record(entry, action) };
}

function keyOf({ userId, startsAt, endsAt, overrideUserId, overrideStartsAt, overrideEndsAt }: Turn): string {
  const times = [startsAt, endsAt, overrideStartsAt, overrideEndsAt].map((time) =>
    time === null || time === undefined ? null : Date.parse(time),
  );
  return JSON.stringify([userId, overrideUserId ?? null, ...times]);
}

/** Turns that have not ended, in the order of their beginnings. */
function openTurns(turns: JsonValue, nowMs: number): JsonValue {
  const open = (isJsonList(turns) ? turns : [])
    .filter(isJsonObject)
    .filter(({ endsAt }) => !isOver(endsAt, nowMs));
  return open.map(saidOnly).toSorted((left, right) => (orderOf(left) < orderOf(right) ? -1 : 1));
}

function isOver(endsAt: JsonValue | undefined, nowMs: number): boolean {
  return typeof endsAt === "string" && Date.parse(endsAt) <= nowMs;
}

/** A turn without what is not said of it. */
function saidOnly(turn: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(turn).filter(([, value]) => value !== null));
}

function orderOf({ startsAt = null, endsAt = null }: JsonObject): string {
  return JSON.stringify([startsAt, endsAt]);
}

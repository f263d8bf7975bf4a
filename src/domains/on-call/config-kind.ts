import type { TransactionSql } from "postgres";
import { type Static, Type } from "typebox";
import type { JsonObject, JsonValue } from "../../audit/canonical-json.ts";
import type { Change } from "../../changes/change.ts";
import { configKind, PEOPLE } from "../../configuration/config-kind.ts";
import { isJsonList, isJsonObject } from "../../configuration/json.ts";
import { oneByOne } from "../../configuration/record-kinds.ts";
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
  make: oneByOne(async (change, { rotations = [], ...body }: CreateBody) => {
    const schedule = await createSchedule(change, body);
    await setTurns(change, schedule.id, rotations);
    return schedule;
  }),
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

/**
 * Makes the open turns of a schedule those that are given. Of turns that begin together the one made last decides, so what begins
 * at a moment stays as it is or is made anew in its order.
 */
async function setTurns(change: Change, id: number, wanted: readonly Turn[]): Promise<void> {
  const present = (await turnsOf(change.tx, change.organizationId, id)).filter(
    ({ endsAt }) => Date.parse(endsAt) > change.nowMs,
  );
  const presentAt = Map.groupBy(present, ({ startsAt }) => Date.parse(startsAt));
  const wantedAt = Map.groupBy(wanted, ({ startsAt }) => Date.parse(startsAt));
  const differing = [...new Set([...presentAt.keys(), ...wantedAt.keys()])].filter(
    (at) => !areAlike((presentAt.get(at) ?? []).map(said), wantedAt.get(at) ?? []),
  );
  // First away, then anew: there is a most of turns.
  for (const at of differing)
    for (const turn of presentAt.get(at) ?? [])
      await removeRotation(named(change, "DELETE_ROTATION"), id, turn.id);
  for (const at of differing)
    for (const turn of wantedAt.get(at) ?? [])
      await createRotation(named(change, "CREATE_ROTATION"), id, turn);
}

function areAlike(left: readonly Turn[], right: readonly Turn[]): boolean {
  return JSON.stringify(left.map(keyOf)) === JSON.stringify(right.map(keyOf));
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

/** Turns that have not ended, in the order of their beginnings; those that begin together as they were. */
function openTurns(turns: JsonValue, nowMs: number): JsonValue {
  const open = (isJsonList(turns) ? turns : [])
    .filter(isJsonObject)
    .filter(({ endsAt }) => !isOver(endsAt, nowMs));
  return open.map(saidOnly).toSorted((left, right) => beginningOf(left) - beginningOf(right));
}

function isOver(endsAt: JsonValue | undefined, nowMs: number): boolean {
  return typeof endsAt === "string" && Date.parse(endsAt) <= nowMs;
}

/** A turn without what is not said of it. */
function saidOnly(turn: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(turn).filter(([, value]) => value !== null));
}

function beginningOf({ startsAt }: JsonObject): number {
  return typeof startsAt === "string" ? Date.parse(startsAt) : 0;
}

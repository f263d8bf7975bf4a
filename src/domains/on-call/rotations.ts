import type { TransactionSql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { ApiError, type FieldIssue, validationFailed } from "../../errors.ts";
import { lockMembers } from "../../membership/member-store.ts";
import { turnsOf } from "../../on-call/generate.ts";
import { ROTATIONS_MAX } from "../../on-call/limits.ts";
import { RecordTable } from "../../storage/record-table.ts";
import { requireSchedule } from "./require-schedule.ts";
import { countOpenRotations } from "./store.ts";
import {
  type CreateRotationBody,
  type GenerateRotationsBody,
  RotationRecord,
  type UpdateRotationBody,
} from "./types.ts";

const table = new RecordTable("on_call_rotations", RotationRecord);

type TurnFields = Pick<
  RotationRecord,
  "userId" | "startsAt" | "endsAt" | "overrideUserId" | "overrideStartsAt" | "overrideEndsAt"
>;

/** The turns of a schedule that have not ended, by their start. */
export async function listRotations(
  tx: TransactionSql,
  organizationId: number,
  scheduleId: number,
  now: Date,
): Promise<RotationRecord[]> {
  const rotations = await table.list(
    tx,
    organizationId,
    tx`schedule_id = ${scheduleId} AND ends_at > ${now}`,
  );
  return rotations.toSorted((left, right) => Date.parse(left.startsAt) - Date.parse(right.startsAt));
}

/** Throws NOT_FOUND, VALIDATION_FAILED, and CONFLICT for one turn too many. */
export async function createRotation(
  change: Change,
  scheduleId: number,
  body: CreateRotationBody,
): Promise<RotationRecord> {
  await requireSchedule(change, scheduleId);
  const fields = turnOf(body);
  await checkTurn(change, fields);
  await requireRoom(change, scheduleId, 1);
  return insert(change, scheduleId, fields);
}

/** Sets the fields that are given. Throws NOT_FOUND and VALIDATION_FAILED. */
export async function updateRotation(
  change: Change,
  scheduleId: number,
  id: number,
  body: UpdateRotationBody,
): Promise<RotationRecord> {
  const before = await requireRotation(change, scheduleId, id);
  await checkTurn(change, turnOf({ ...before, ...body }));
  const { tx, organizationId, nowMs } = change;
  const after = await table.update(tx, organizationId, id, body, nowMs);
  change.record({ resource: resourceOf(id), before, after });
  return after;
}

/** Throws NOT_FOUND. */
export async function removeRotation(change: Change, scheduleId: number, id: number): Promise<void> {
  const before = await requireRotation(change, scheduleId, id);
  await table.remove(change.tx, change.organizationId, id);
  change.record({ resource: resourceOf(id), before });
}

/**
 * Makes the turns of people who take over from each other, for a time in which the clocks of the schedule may change. They
 * come beside what is there, and before it, for of turns that overlap the one that began last decides. Throws NOT_FOUND,
 * VALIDATION_FAILED, and CONFLICT for one turn too many.
 */
export async function generateRotations(
  change: Change,
  scheduleId: number,
  body: GenerateRotationsBody,
): Promise<RotationRecord[]> {
  const { timezone } = await requireSchedule(change, scheduleId);
  const from = Date.parse(body.from);
  const until = Date.parse(body.until);
  if (until <= from) throw validationFailed([custom("/until", "must be later than `from`")]);
  const members = await lockMembers(change.tx, change.organizationId, body.userIds);
  const strangers = body.userIds.flatMap((userId, at) =>
    members.has(userId) ? [] : [custom(`/userIds/${at}`, NO_MEMBER)],
  );
  if (strangers.length > 0) throw validationFailed(strangers);
  const turns = turnsOf({ ...body, timezone, from, until }, ROTATIONS_MAX + 1);
  await requireRoom(change, scheduleId, turns.length);
  const made: RotationRecord[] = [];
  for (const { userId, startsAt, endsAt } of turns) {
    const times = { startsAt: new Date(startsAt).toISOString(), endsAt: new Date(endsAt).toISOString() };
    made.push(await insert(change, scheduleId, { userId, ...times, ...NO_OVERRIDE }));
  }
  return made;
}

const NO_OVERRIDE = { overrideUserId: null, overrideStartsAt: null, overrideEndsAt: null };
const NO_MEMBER = "is no member of the organisation";

function turnOf(body: CreateRotationBody): TurnFields {
  const { userId, startsAt, endsAt, overrideUserId, overrideStartsAt, overrideEndsAt } = body;
  return {
    ...{ userId, startsAt, endsAt },
    overrideUserId: overrideUserId ?? null,
    overrideStartsAt: overrideStartsAt ?? null,
    overrideEndsAt: overrideEndsAt ?? null,
  };
}

async function insert(change: Change, scheduleId: number, fields: TurnFields): Promise<RotationRecord> {
  const { tx, organizationId, nowMs } = change;
  const rotation = await table.insert(tx, organizationId, { scheduleId, ...fields }, nowMs);
  change.record({ resource: resourceOf(rotation.id), after: rotation });
  return rotation;
}

async function checkTurn({ tx, organizationId }: Change, fields: TurnFields): Promise<void> {
  const { userId, overrideUserId } = fields;
  const named = overrideUserId === null ? [userId] : [userId, overrideUserId];
  const members = await lockMembers(tx, organizationId, named);
  const issues = issuesOfTimes(fields);
  if (!members.has(userId)) issues.push(custom("/userId", NO_MEMBER));
  if (overrideUserId !== null && !members.has(overrideUserId))
    issues.push(custom("/overrideUserId", NO_MEMBER));
  if (issues.length > 0) throw validationFailed(issues);
}

function issuesOfTimes({
  startsAt,
  endsAt,
  overrideUserId,
  overrideStartsAt,
  overrideEndsAt,
}: TurnFields): FieldIssue[] {
  const issues: FieldIssue[] = [];
  if (Date.parse(endsAt) <= Date.parse(startsAt))
    issues.push(custom("/endsAt", "must be later than `startsAt`"));
  if (overrideUserId === null && (overrideStartsAt !== null || overrideEndsAt !== null))
    issues.push(custom("/overrideUserId", "is needed: who stands in at these times"));
  const overrideStart = Date.parse(overrideStartsAt ?? startsAt);
  const overrideEnd = Date.parse(overrideEndsAt ?? endsAt);
  if (overrideUserId !== null && overrideEnd <= overrideStart)
    issues.push(custom("/overrideEndsAt", "must be later than `overrideStartsAt`"));
  return issues;
}

async function requireRoom(
  { tx, organizationId, nowMs }: Change,
  scheduleId: number,
  more: number,
): Promise<void> {
  const open = await countOpenRotations(tx, organizationId, scheduleId, new Date(nowMs));
  if (open + more > ROTATIONS_MAX)
    throw new ApiError(
      "CONFLICT",
      `A schedule has at most ${ROTATIONS_MAX} turns that have not ended; there are ${open}.`,
    );
}

async function requireRotation(change: Change, scheduleId: number, id: number): Promise<RotationRecord> {
  await requireSchedule(change, scheduleId);
  const rotation = await table.lock(change.tx, change.organizationId, id);
  if (rotation === null || rotation.scheduleId !== scheduleId)
    throw new ApiError("NOT_FOUND", "No such rotation.");
  return rotation;
}

function custom(path: string, message: string): FieldIssue {
  return { path, code: "custom", message };
}

function resourceOf(id: number): string {
  return `rotation:${id}`;
}

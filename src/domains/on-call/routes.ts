import type { Sql } from "postgres";
import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { IdParams } from "../../http/record-schemas.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { readCalendar } from "./calendar.ts";
import { reportCoverage } from "./coverage.ts";
import { createRotation, generateRotations, removeRotation, updateRotation } from "./rotations.ts";
import {
  closeCalendar,
  createSchedule,
  listSchedules,
  openCalendar,
  readSchedule,
  removeSchedule,
  updateSchedule,
} from "./schedules.ts";
import {
  CalendarAddress,
  Coverage,
  CoverageParameters,
  CreateRotationBody,
  CreateScheduleBody,
  GenerateRotationsBody,
  RotationRecord,
  Schedule,
  ScheduleWithRotations,
  UpdateRotationBody,
  UpdateScheduleBody,
} from "./types.ts";

export interface OnCallDependencies {
  readonly sql: Sql;
  /** Under which people reach the server. */
  readonly publicUrl: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const SCHEDULES = "/api/v1/on-call/schedules";
const TAG = "On-call";
const read = { role: "viewer", scope: "on-call:read" } as const;
const write = { role: "member", scope: "on-call:write" } as const;
const RotationParams = Type.Object({ ...IdParams.properties, rotation: IdParams.properties.id });

/** Who is on call, by schedules of turns that people take. */
export function onCallRoutes(deps: OnCallDependencies) {
  const { sql, now } = deps;
  const schedules = resource({
    path: SCHEDULES,
    tag: TAG,
    one: "an on-call schedule",
    many: "on-call schedules",
    by: BY_ID,
    record: Schedule,
    read,
    write,
    audit: "SCHEDULE",
  });
  return [
    schedules.list("Oldest first", ({ organizationId }) => listSchedules(sql, organizationId)),
    schedules.create(CreateScheduleBody, Schedule, createSchedule),
    schedules.read(ScheduleWithRotations, ({ organizationId }, id) =>
      readSchedule(sql, organizationId, id, now()),
    ),
    schedules.update(UpdateScheduleBody, updateSchedule),
    schedules.remove(removeSchedule, { errors: ["CONFLICT"] }),
    ...rotationRoutes(),
    ...calendarRoutes(deps),
    route({
      method: "GET",
      path: "/api/v1/on-call/coverage",
      tag: TAG,
      summary: "Find when nobody is on call",
      access: read,
      query: CoverageParameters,
      responses: { 200: { description: "Gaps, and turns of people who have left", schema: Coverage } },
      handler: async ({ principal }, { query }) => ({
        status: 200,
        body: await reportCoverage(sql, principal.organizationId, query, now()),
      }),
    }),
  ];
}

function rotationRoutes() {
  const path = `${SCHEDULES}/:id/rotations` as const;
  return [
    route({
      method: "POST",
      path,
      tag: TAG,
      summary: "Give somebody a turn",
      access: write,
      audit: "CREATE_ROTATION",
      params: IdParams,
      body: { kind: "json", schema: CreateRotationBody },
      responses: { 201: { description: "Created", schema: RotationRecord } },
      errors: ["CONFLICT"],
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({ status: 201, body: await createRotation(made, Number(params.id), body) })),
    }),
    route({
      method: "POST",
      path: `${path}/generate`,
      tag: TAG,
      summary: "Let people take turns, with handoffs by the clocks of the schedule's zone",
      access: write,
      audit: "GENERATE_ROTATIONS",
      params: IdParams,
      body: { kind: "json", schema: GenerateRotationsBody },
      responses: { 201: { description: "The turns made, by time", schema: Type.Array(RotationRecord) } },
      errors: ["CONFLICT"],
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({
          status: 201,
          body: await generateRotations(made, Number(params.id), body),
        })),
    }),
    route({
      method: "PATCH",
      path: `${path}/:rotation`,
      tag: TAG,
      summary: "Change a turn, or let somebody stand in",
      access: write,
      audit: "UPDATE_ROTATION",
      params: RotationParams,
      body: { kind: "json", schema: UpdateRotationBody },
      responses: { 200: { description: "As it is now", schema: RotationRecord } },
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({
          status: 200,
          body: await updateRotation(made, Number(params.id), Number(params.rotation), body),
        })),
    }),
    route({
      method: "DELETE",
      path: `${path}/:rotation`,
      tag: TAG,
      summary: "Take a turn away",
      access: write,
      audit: "DELETE_ROTATION",
      params: RotationParams,
      responses: { 204: { description: "Deleted" } },
      handler: ({ change }, { params }) =>
        change(async (made) => {
          await removeRotation(made, Number(params.id), Number(params.rotation));
          return { status: 204 };
        }),
    }),
  ];
}

function calendarRoutes({ sql, publicUrl, now }: OnCallDependencies) {
  return [
    route({
      method: "POST",
      path: `${SCHEDULES}/:id/calendar`,
      tag: TAG,
      summary: "Make an address that calendars subscribe to; the one before ends",
      access: write,
      audit: "OPEN_CALENDAR",
      params: IdParams,
      responses: { 201: { description: "The address, shown this once", schema: CalendarAddress } },
      handler: ({ change }, { params }) =>
        change(async (made) => ({
          status: 201,
          body: {
            url: `${publicUrl}/api/v1/on-call/calendars/${await openCalendar(made, Number(params.id))}`,
          },
        })),
    }),
    route({
      method: "DELETE",
      path: `${SCHEDULES}/:id/calendar`,
      tag: TAG,
      summary: "End the address that calendars subscribe to",
      access: write,
      audit: "CLOSE_CALENDAR",
      params: IdParams,
      responses: { 204: { description: "Ended" } },
      handler: ({ change }, { params }) =>
        change(async (made) => {
          await closeCalendar(made, Number(params.id));
          return { status: 204 };
        }),
    }),
    route({
      method: "GET",
      path: "/api/v1/on-call/calendars/:token",
      tag: TAG,
      summary: "Subscribe to a schedule",
      access: "public",
      params: Type.Object({ token: Type.String({ description: "Of the address that was made" }) }),
      responses: {
        200: {
          description: "The shifts, as RFC 5545 has them",
          schema: Type.String(),
          contentType: "text/calendar",
        },
      },
      handler: async (_context, { params }) =>
        new Response(await readCalendar(sql, params.token, now()), {
          headers: { "content-type": "text/calendar; charset=utf-8" },
        }),
    }),
  ];
}

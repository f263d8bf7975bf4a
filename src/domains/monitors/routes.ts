import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { IdParams } from "../../http/record-schemas.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { sealedChannelsOf } from "../../notify/alert-channels.ts";
import { BULK_MAX_BYTES } from "./limits.ts";
import { HeartbeatToken, MonitorSecrets } from "./secret-types.ts";
import type { MonitorService } from "./service.ts";
import { type TestAlerts, TestDelivery } from "./test-alerts.ts";
import {
  BulkCreateBody,
  BulkDeleteBody,
  BulkUpdateBody,
  CreateMonitorBody,
  Monitor,
  Tag,
  UpdateMonitorBody,
} from "./types.ts";

const PATH = "/api/v1/monitors";
const TAG = "Monitors";
const read = { role: "viewer", scope: "monitors:read" } as const;
const write = { role: "member", scope: "monitors:write" } as const;
const REFUSALS = ["ALERT_URL_BLOCKED", "TARGET_BLOCKED"] as const;

/** What people do with monitors, one at a time. */
export function monitorRoutes(service: MonitorService, testAlerts: TestAlerts) {
  const monitors = resource({
    path: PATH,
    tag: TAG,
    one: "a monitor",
    many: "monitors",
    by: BY_ID,
    record: Monitor,
    read,
    write,
    audit: "MONITOR",
  });
  return [
    route({
      method: "GET",
      path: PATH,
      tag: TAG,
      summary: "List the monitors",
      access: read,
      query: Type.Object({
        tag: Type.Optional(
          Type.Array(Tag, {
            description: "May be repeated: a monitor must carry all of them.",
            maxItems: 20,
          }),
        ),
      }),
      responses: { 200: { description: "Oldest first", schema: Type.Array(Monitor) } },
      handler: async ({ principal }, { query }) => ({
        status: 200,
        body: await service.list(principal.organizationId, query.tag),
      }),
    }),
    monitors.create(
      CreateMonitorBody,
      Monitor,
      async (change, body) => only(await service.create(change, [body], () => "")),
      { errors: ["PLAN_LIMIT_MONITORS", ...REFUSALS] },
    ),
    monitors.read(Monitor, ({ organizationId }, id) => service.read(organizationId, id)),
    monitors.update(
      UpdateMonitorBody,
      async (change, id, body) => only(await service.update(change, [id], body, "")),
      { errors: REFUSALS },
    ),
    monitors.remove((change, id) => service.remove(change, [id])),
    route({
      method: "GET",
      path: `${PATH}/:id/secrets`,
      tag: TAG,
      summary: "Show what a monitor's answer leaves out; every look is audited",
      access: { role: "admin", scope: "secrets:read" },
      audit: "READ_MONITOR_SECRETS",
      params: IdParams,
      responses: { 200: { description: "The secrets", schema: MonitorSecrets } },
      handler: ({ change }, { params }) =>
        change(async (made) => ({ status: 200, body: await service.secrets(made, Number(params.id)) })),
    }),
    route({
      method: "POST",
      path: `${PATH}/:id/rotate-heartbeat-token`,
      tag: TAG,
      summary: "Replace the token for heartbeats; the old one is unknown at once",
      access: write,
      audit: "ROTATE_HEARTBEAT_TOKEN",
      params: IdParams,
      responses: { 200: { description: "The new token", schema: HeartbeatToken } },
      handler: ({ change }, { params }) =>
        change(async (made) => ({
          status: 200,
          body: await service.rotateHeartbeatToken(made, Number(params.id)),
        })),
    }),
    testAlertRoute(service, testAlerts),
    ...bulkRoutes(service),
  ];
}

function testAlertRoute(service: MonitorService, testAlerts: TestAlerts) {
  return route({
    method: "POST",
    path: `${PATH}/:id/test-alert`,
    tag: TAG,
    summary: "Send a sample alert through every channel of a monitor, and wait for the first attempts",
    access: write,
    audit: "TEST_MONITOR_ALERT",
    params: IdParams,
    responses: {
      200: {
        description: "What became of it, by channel; nothing where no channel is set",
        schema: Type.Object({ deliveries: Type.Array(TestDelivery) }, { $id: "TestAlert" }),
      },
    },
    handler: async ({ principal, change }, { params }) => {
      const { organizationId } = principal;
      const id = Number(params.id);
      const settings = await service.settings(organizationId, id);
      const channels = sealedChannelsOf(settings);
      const { alertEmail, name } = settings;
      const isSilent = alertEmail === null && Object.values(channels).every((channel) => channel === null);
      // Before the change, whose transaction must not wait for others.
      const deliveries = isSilent
        ? []
        : await testAlerts.send({ organizationId, monitor: { id, name }, alertEmail, channels });
      return change(async (made) => {
        made.record({ resource: `monitor:${id}`, facts: { deliveries: deliveries.length } });
        return { status: 200, body: { deliveries } };
      });
    },
  });
}

/** The same with up to a hundred at a time, all of them or none. */
function bulkRoutes(service: MonitorService) {
  const path = `${PATH}/bulk` as const;
  return [
    route({
      method: "POST",
      path,
      tag: TAG,
      summary: "Create monitors, all of them or none",
      access: write,
      audit: "CREATE_MONITOR",
      body: { kind: "json", schema: BulkCreateBody, maxBytes: BULK_MAX_BYTES },
      responses: { 201: { description: "In the order of the body", schema: Type.Array(Monitor) } },
      errors: ["CONFLICT", "PLAN_LIMIT_MONITORS", ...REFUSALS],
      handler: ({ change }, { body }) =>
        change(async (made) => ({
          status: 201,
          body: await service.create(made, body.monitors, (index) => `/monitors/${index}`),
        })),
    }),
    route({
      method: "PATCH",
      path,
      tag: TAG,
      summary: "Change monitors in the same way, all of them or none",
      access: write,
      audit: "UPDATE_MONITOR",
      body: { kind: "json", schema: BulkUpdateBody },
      responses: { 200: { description: "In the order of the body", schema: Type.Array(Monitor) } },
      errors: ["NOT_FOUND", ...REFUSALS],
      handler: ({ change }, { body }) =>
        change(async (made) => ({
          status: 200,
          body: await service.update(made, body.ids, body.patch, "/patch"),
        })),
    }),
    route({
      method: "DELETE",
      path,
      tag: TAG,
      summary: "Delete monitors, all of them or none",
      access: { role: "admin", scope: "monitors:write" },
      audit: "DELETE_MONITOR",
      body: { kind: "json", schema: BulkDeleteBody },
      responses: { 204: { description: "Deleted" } },
      errors: ["NOT_FOUND"],
      handler: ({ change }, { body }) =>
        change(async (made) => {
          await service.remove(made, body.ids);
          return { status: 204 };
        }),
    }),
  ];
}

function only(monitors: readonly Monitor[]): Monitor {
  const [monitor] = monitors;
  if (monitor === undefined) throw new Error("a change of one monitor answered none");
  return monitor;
}

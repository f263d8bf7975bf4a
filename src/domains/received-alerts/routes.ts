import type { Sql } from "postgres";
import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { IdParams } from "../../http/record-schemas.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { AlertIntake } from "./receive.ts";
import { AlertReceivers, type ReceiverDependencies } from "./receivers.ts";
import {
  AlertGroup,
  AlertReceiver,
  CreateAlertReceiverBody,
  MintedAlertReceiver,
  PlainAlert,
  ReceivedAlerts,
  UpdateAlertReceiverBody,
} from "./types.ts";

interface ReceivedAlertDependencies extends ReceiverDependencies {
  readonly sql: Sql;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const PATH = "/api/v1/alert-receivers";
const TAG = "Alerts of others";
const write = { role: "member", scope: "alerts:write" } as const;

/** Alerts of other systems become incidents: where they come in, and who may send them. */
export function receivedAlertRoutes(deps: ReceivedAlertDependencies) {
  const { sql } = deps;
  const receivers = new AlertReceivers(deps);
  const routes = resource({
    path: PATH,
    tag: TAG,
    one: "a receiver of alerts",
    many: "receivers of alerts",
    by: BY_ID,
    record: AlertReceiver,
    read: { role: "viewer", scope: "alerts:read" },
    write,
    audit: "ALERT_RECEIVER",
  });
  return [
    routes.list("Oldest first", ({ organizationId }) => receivers.list(sql, organizationId)),
    routes.create(CreateAlertReceiverBody, MintedAlertReceiver, (change, body) =>
      receivers.create(change, body),
    ),
    routes.read(AlertReceiver, ({ organizationId }, id) => receivers.read(sql, organizationId, id)),
    routes.update(UpdateAlertReceiverBody, (change, id, body) => receivers.update(change, id, body)),
    routes.remove((change, id) => receivers.remove(change, id)),
    route({
      method: "POST",
      path: `${PATH}/:id/rotate`,
      tag: TAG,
      summary: "Give a receiver of alerts a new token; the old one is refused from now on",
      access: write,
      audit: "ROTATE_ALERT_RECEIVER_TOKEN",
      params: IdParams,
      responses: { 200: { description: "The receiver with its token", schema: MintedAlertReceiver } },
      handler: ({ change }, { params }) =>
        change(async (made) => ({ status: 200, body: await receivers.rotate(made, Number(params.id)) })),
    }),
    receiveRoute(new AlertIntake(deps)),
  ];
}

function receiveRoute(intake: AlertIntake) {
  return route({
    method: "POST",
    path: "/api/v1/alerts/:token",
    tag: TAG,
    summary: "Take in what Alertmanager, Grafana or anything else says is wrong, or well again",
    access: "public",
    rateLimit: "ingest",
    effect: "ingest",
    params: Type.Object({ token: Type.String({ description: "Of a receiver of alerts" }) }),
    body: {
      kind: "raw",
      contentTypes: ["application/json"],
      documented: Type.Union([AlertGroup, PlainAlert]),
    },
    responses: { 202: { description: "Written down", schema: ReceivedAlerts } },
    errors: ["NOT_FOUND", "CONFLICT", "PAYLOAD_TOO_LARGE", "REQUEST_TIMEOUT", "UNSUPPORTED_MEDIA_TYPE"],
    handler: async (context, { params }) => ({
      status: 202,
      body: await intake.receive(context, params.token),
    }),
  });
}

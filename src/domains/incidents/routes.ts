import type { Sql } from "postgres";
import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { IdParams } from "../../http/record-schemas.ts";
import type { KnowsPolicy } from "../../problems/known-policy.ts";
import {
  acknowledge,
  addUpdate,
  openIncident,
  readIncident,
  readIncidents,
  resolve,
  setPostmortem,
} from "./service.ts";
import {
  Delivery,
  IncidentDetails,
  IncidentList,
  ListParameters,
  OpenIncidentBody,
  PostmortemBody,
  UpdateIncidentBody,
} from "./types.ts";

/** What was sent about an incident, oldest first; asked for incidents that exist. */
type ReadDeliveries = (organizationId: number, incidentId: number) => Promise<Delivery[]>;

export interface IncidentRouteDependencies {
  readonly sql: Sql;
  readonly knowsPolicy: KnowsPolicy;
  readonly readDeliveries: ReadDeliveries;
}

const PATH = "/api/v1/incidents";
const TAG = "Incidents";
const read = { role: "viewer", scope: "incidents:read" } as const;
const write = { role: "member", scope: "incidents:write" } as const;

/** What was or is wrong, and what people do about it. */
export function incidentRoutes({ sql, knowsPolicy, readDeliveries }: IncidentRouteDependencies) {
  return [
    route({
      method: "GET",
      path: PATH,
      tag: TAG,
      summary: "List incidents",
      access: read,
      query: ListParameters,
      responses: { 200: { description: "One page", schema: IncidentList } },
      handler: async ({ principal }, { query }) => ({
        status: 200,
        body: await readIncidents(sql, principal.organizationId, query),
      }),
    }),
    route({
      method: "POST",
      path: PATH,
      tag: TAG,
      summary: "Open an incident by hand",
      access: write,
      audit: "CREATE_INCIDENT",
      body: { kind: "json", schema: OpenIncidentBody },
      responses: { 201: { description: "Opened", schema: IncidentDetails } },
      handler: ({ change }, { body }) =>
        change(async (made) => ({ status: 201, body: await openIncident(made, body, knowsPolicy) })),
    }),
    route({
      method: "GET",
      path: `${PATH}/:id`,
      tag: TAG,
      summary: "Read an incident with its timeline",
      access: read,
      params: IdParams,
      responses: { 200: { description: "As it is now", schema: IncidentDetails } },
      handler: async ({ principal }, { params }) => ({
        status: 200,
        body: await readIncident(sql, principal.organizationId, Number(params.id)),
      }),
    }),
    route({
      method: "POST",
      path: `${PATH}/:id/updates`,
      tag: TAG,
      summary: "Write into the timeline of an incident, and move its status",
      access: write,
      audit: "UPDATE_INCIDENT",
      params: IdParams,
      body: { kind: "json", schema: UpdateIncidentBody },
      responses: { 201: { description: "The incident with the new entry", schema: IncidentDetails } },
      errors: ["CONFLICT"],
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({ status: 201, body: await addUpdate(made, Number(params.id), body) })),
    }),
    ...actions(),
    route({
      method: "PUT",
      path: `${PATH}/:id/postmortem`,
      tag: TAG,
      summary: "Write what was learned from an incident",
      access: write,
      audit: "UPDATE_POSTMORTEM",
      params: IdParams,
      body: { kind: "json", schema: PostmortemBody },
      responses: { 200: { description: "The incident with it", schema: IncidentDetails } },
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({
          status: 200,
          body: await setPostmortem(made, Number(params.id), body.postmortem),
        })),
    }),
    route({
      method: "GET",
      path: `${PATH}/:id/deliveries`,
      tag: TAG,
      summary: "List what was sent about an incident",
      access: read,
      params: IdParams,
      responses: { 200: { description: "Oldest first", schema: Type.Array(Delivery) } },
      handler: async ({ principal: { organizationId } }, { params }) => {
        const { id } = await readIncident(sql, organizationId, Number(params.id));
        return { status: 200, body: await readDeliveries(organizationId, id) };
      },
    }),
  ];
}

/** What has no body. */
function actions() {
  const acting = {
    method: "POST",
    tag: TAG,
    access: write,
    params: IdParams,
    responses: { 200: { description: "As it is now", schema: IncidentDetails } },
  } as const;
  return [
    route({
      ...acting,
      path: `${PATH}/:id/acknowledge`,
      summary:
        "Say that somebody sees to an incident, which ends its escalation; a repetition changes nothing",
      audit: "ACKNOWLEDGE_INCIDENT",
      errors: ["CONFLICT"],
      handler: ({ change }, { params }) =>
        change(async (made) => ({ status: 200, body: await acknowledge(made, Number(params.id)) })),
    }),
    route({
      ...acting,
      path: `${PATH}/:id/resolve`,
      summary: "End an incident; a repetition changes nothing",
      audit: "RESOLVE_INCIDENT",
      handler: ({ change }, { params }) =>
        change(async (made) => ({ status: 200, body: await resolve(made, Number(params.id)) })),
    }),
  ];
}

import type { Sql } from "postgres";
import type { Library } from "../../../query/index.ts";
import { route } from "../../http/define-route.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import { NEIGHBORS_DEFAULT } from "./limits.ts";
import { lookUp, readEntity } from "./read-entity.ts";
import { readNeighbors } from "./read-neighbors.ts";
import { Entity, EntityParams, Lookup, LookupParameters, NeighborParameters, Neighbors } from "./types.ts";

interface ContextDependencies {
  readonly sql: Sql;
  readonly clickhouseEndpoint: ClickHouseEndpoint;
  /** Where addresses are. */
  readonly library: Pick<Library, "geo_info_from_ip_address">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const TAG = "Context";
const access = { role: "viewer", scope: "security:read" } as const;

/** What is known of whom and what entries, records and incidents are about. */
export function contextRoutes({ sql, clickhouseEndpoint: endpoint, library, now }: ContextDependencies) {
  const reading = { sql, placeOf: library.geo_info_from_ip_address, now };
  return [
    route({
      method: "GET",
      path: "/api/v1/context/lookup",
      tag: TAG,
      summary: "Find an entity by its type and key",
      access,
      query: LookupParameters,
      responses: { 200: { description: "The entity, or null where nothing is known of it", schema: Lookup } },
      handler: async ({ principal: { organizationId } }, { query }) => ({
        status: 200,
        body: { entity: await lookUp(reading, organizationId, query) },
      }),
    }),
    route({
      method: "GET",
      path: "/api/v1/context/entity/:id",
      tag: TAG,
      summary: "Read an entity",
      access,
      params: EntityParams,
      responses: { 200: { description: "What is known of it", schema: Entity } },
      handler: async ({ principal: { organizationId } }, { params }) => ({
        status: 200,
        body: await readEntity(reading, organizationId, Number(params.id)),
      }),
    }),
    route({
      method: "GET",
      path: "/api/v1/context/entity/:id/neighbors",
      tag: TAG,
      summary: "Read what had to do with an entity",
      access,
      params: EntityParams,
      query: NeighborParameters,
      responses: { 200: { description: "Last seen first", schema: Neighbors } },
      handler: async ({ principal: { organizationId }, request }, { params, query }) => {
        const { limit = NEIGHBORS_DEFAULT, type = null, from, to } = query;
        const filter = {
          ...{ limit, type },
          fromMs: from === undefined ? null : Date.parse(from),
          toMs: to === undefined ? null : Date.parse(to),
        };
        const id = Number(params.id);
        const body = await readNeighbors({ sql, endpoint }, organizationId, id, filter, request.signal);
        return { status: 200, body };
      },
    }),
  ];
}

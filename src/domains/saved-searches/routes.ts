import type { Sql } from "postgres";
import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { changeSearch, createSearch, listSearches, removeSearch } from "./service.ts";
import { CreateSavedSearchBody, SavedSearch, UpdateSavedSearchBody } from "./types.ts";

const IdParams = Type.Object({ id: Type.String({ pattern: "^[1-9][0-9]{0,14}$" }) });
const write = { role: "member", scope: "logs:write" } as const;

/** Questions about logs that an organisation keeps under a name. */
export function savedSearchRoutes({ sql }: { sql: Sql }) {
  return [
    route({
      method: "GET",
      path: "/api/v1/saved-searches",
      tag: "Saved searches",
      summary: "List the saved searches",
      access: { role: "viewer", scope: "logs:read" },
      responses: { 200: { description: "Oldest first", schema: Type.Array(SavedSearch) } },
      errors: ["UNAVAILABLE"],
      handler: async ({ principal }) => ({
        status: 200,
        body: await listSearches(sql, principal.organizationId),
      }),
    }),
    route({
      method: "POST",
      path: "/api/v1/saved-searches",
      tag: "Saved searches",
      summary: "Save a search",
      access: write,
      audit: "CREATE_SAVED_SEARCH",
      body: { kind: "json", schema: CreateSavedSearchBody },
      responses: { 201: { description: "The search", schema: SavedSearch } },
      errors: ["KQL_INVALID", "CONFLICT", "UNAVAILABLE"],
      handler: ({ change }, { body }) =>
        change(async (made) => ({ status: 201, body: await createSearch(made, body) })),
    }),
    route({
      method: "PATCH",
      path: "/api/v1/saved-searches/:id",
      tag: "Saved searches",
      summary: "Change a saved search",
      access: write,
      audit: "UPDATE_SAVED_SEARCH",
      params: IdParams,
      body: { kind: "json", schema: UpdateSavedSearchBody },
      responses: { 200: { description: "The search as it is now", schema: SavedSearch } },
      errors: ["KQL_INVALID", "NOT_FOUND", "UNAVAILABLE"],
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({ status: 200, body: await changeSearch(made, Number(params.id), body) })),
    }),
    route({
      method: "DELETE",
      path: "/api/v1/saved-searches/:id",
      tag: "Saved searches",
      summary: "Delete a saved search",
      access: write,
      audit: "DELETE_SAVED_SEARCH",
      params: IdParams,
      responses: { 204: { description: "Deleted" } },
      errors: ["NOT_FOUND", "UNAVAILABLE"],
      handler: ({ change }, { params }) =>
        change(async (made) => {
          await removeSearch(made, Number(params.id));
          return { status: 204 };
        }),
    }),
  ];
}

import type { Sql } from "postgres";
import { Type } from "typebox";
import { ApiError } from "../../../errors.ts";
import { route } from "../../../http/define-route.ts";
import { IdParams } from "../../../http/record-schemas.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { inOrganization } from "../../../storage/organization-transaction.ts";
import { listSubscribers, removeSubscriber, Subscriber } from "./store.ts";

/** Who is told of a page, for those who run it. */
export function subscriberRoutes({ sql }: { readonly sql: Sql }) {
  return [
    route({
      method: "GET",
      path: "/api/v1/status-pages/:id/subscribers",
      tag: "Status pages",
      summary: "List the subscribers of a status page",
      access: { role: "admin", scope: "status-pages:read" },
      params: IdParams,
      responses: { 200: { description: "Oldest first", schema: Type.Array(Subscriber) } },
      handler: async ({ principal: { organizationId } }, { params }) => {
        const id = Number(params.id);
        const body = await askPostgres(() =>
          inOrganization(sql, organizationId, async (tx) => {
            const page = await tx`
              SELECT 1 FROM status_pages WHERE organization_id = ${organizationId} AND id = ${id}`;
            if (page.length === 0) throw new ApiError("NOT_FOUND", "No such status page.");
            return listSubscribers(tx, organizationId, id);
          }),
        );
        return { status: 200, body };
      },
    }),
    route({
      method: "DELETE",
      path: "/api/v1/status-pages/:id/subscribers/:sid",
      tag: "Status pages",
      summary: "Take a subscriber off a status page",
      access: { role: "admin", scope: "status-pages:write" },
      audit: "DELETE_STATUS_PAGE_SUBSCRIBER",
      params: Type.Object({ id: IdParams.properties.id, sid: IdParams.properties.id }),
      responses: { 204: { description: "Deleted" } },
      handler: ({ change }, { params: { id, sid } }) =>
        change(async (made) => {
          const removed = await removeSubscriber(made.tx, made.organizationId, Number(id), Number(sid));
          if (removed === null) throw new ApiError("NOT_FOUND", "No such subscriber.");
          made.record({ resource: `status-page-subscriber:${sid}`, before: removed });
          return { status: 204 };
        }),
    }),
  ];
}

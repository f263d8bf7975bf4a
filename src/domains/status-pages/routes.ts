import type { Sql } from "postgres";
import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { IdParams } from "../../http/record-schemas.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import type { PasswordHasher } from "../../identity/password-hasher.ts";
import { pageOf, StatusPages, type StatusPageVerbs } from "./pages.ts";
import { CreatePageBody, PagePassword, StatusPage, UpdatePageBody } from "./types.ts";

export interface StatusPageDependencies extends StatusPageVerbs {
  readonly sql: Sql;
  readonly passwords: Pick<PasswordHasher, "hash">;
}

const READ = { role: "admin", scope: "status-pages:read" } as const;
const WRITE = { role: "admin", scope: "status-pages:write" } as const;

/** Status pages as their organisation makes them. */
export function statusPageRoutes({ sql, passwords, publicUrl, hosts, onChanged }: StatusPageDependencies) {
  const verbs = new StatusPages({ publicUrl, hosts, onChanged });
  const routes = resource({
    path: "/api/v1/status-pages",
    tag: "Status pages",
    one: "a status page",
    many: "status pages",
    by: BY_ID,
    record: StatusPage,
    read: READ,
    write: WRITE,
    audit: "STATUS_PAGE",
  });
  return [
    routes.list("Oldest first", ({ organizationId }) => verbs.pages.list(sql, organizationId)),
    routes.create(CreatePageBody, StatusPage, verbs.create),
    routes.read(StatusPage, ({ organizationId }, id) => verbs.pages.read(sql, organizationId, id)),
    routes.update(UpdatePageBody, verbs.update, { errors: ["CONFLICT"] }),
    routes.remove(verbs.remove),
    route({
      method: "PUT",
      path: "/api/v1/status-pages/:id/password",
      tag: "Status pages",
      summary: "Set or take away the password of a status page",
      access: WRITE,
      audit: "SET_STATUS_PAGE_PASSWORD",
      params: IdParams,
      body: {
        kind: "json",
        schema: Type.Object(
          { password: Type.Union([PagePassword, Type.Null()]) },
          { additionalProperties: false },
        ),
      },
      responses: { 204: { description: "Whoever had unlocked it has to do so again" } },
      handler: async ({ change }, { params, body }) => {
        // Before the transaction, which a hash would keep open for long.
        const hash = body.password === null ? null : await passwords.hash(body.password);
        return change(async (made) => {
          const id = Number(params.id);
          const page = await pageOf(made, id);
          verbs.told(made, page.slug);
          await made.tx`
            UPDATE status_pages SET password_hash = ${hash}, password_version = password_version + 1
            WHERE organization_id = ${made.organizationId} AND id = ${id}`;
          const before = { hasPassword: page.hasPassword };
          made.record({ resource: `status-page:${id}`, before, after: { hasPassword: hash !== null } });
          return { status: 204 };
        });
      },
    }),
  ];
}

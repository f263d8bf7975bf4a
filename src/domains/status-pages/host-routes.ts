import type { Sql } from "postgres";
import { ApiError } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import { IdParams } from "../../http/record-schemas.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { type HostProof, HostRecord } from "./host-proof.ts";
import { unlessTaken } from "./unless-taken.ts";

interface HostDependencies {
  readonly sql: Sql;
  readonly hosts: HostProof;
  /** A page is not what it was. */
  readonly onChanged: (slug: string) => void;
}

/** How an organisation shows that the host of a page is its own. */
export function hostRoutes({ sql, hosts, onChanged }: HostDependencies) {
  const shown = async (organizationId: number, id: number): Promise<HostRecord> => {
    const rows = await askPostgres(() =>
      inOrganization(
        sql,
        organizationId,
        (tx) => tx<{ customDomain: string | null; provenAt: Date | null }[]>`
          SELECT custom_domain AS "customDomain", custom_domain_proven_at AS "provenAt" FROM status_pages
          WHERE organization_id = ${organizationId} AND id = ${id}`,
      ),
    );
    const { customDomain = null, provenAt = null } = rows[0] ?? {};
    if (customDomain === null)
      throw new ApiError("NOT_FOUND", "No such status page, or none with a host of its own.");
    const record = hosts.recordOf(id, customDomain);
    return { customDomain, provenAt: provenAt?.toISOString() ?? null, record };
  };
  return [
    route({
      method: "GET",
      path: "/api/v1/status-pages/:id/host",
      tag: "Status pages",
      summary: "Read whether a status page answers on its host, and the record that makes it",
      access: { role: "admin", scope: "status-pages:read" },
      params: IdParams,
      responses: { 200: { description: "The host", schema: HostRecord } },
      handler: async ({ principal: { organizationId } }, { params }) => ({
        status: 200,
        body: await shown(organizationId, Number(params.id)),
      }),
    }),
    route({
      method: "POST",
      path: "/api/v1/status-pages/:id/host/verify",
      tag: "Status pages",
      summary: "Look for the record, and have the status page answer on its host",
      access: { role: "admin", scope: "status-pages:write" },
      audit: "PROVE_STATUS_PAGE_HOST",
      params: IdParams,
      responses: { 200: { description: "The page answers there", schema: HostRecord } },
      errors: ["DOMAIN_NOT_VERIFIED", "CONFLICT"],
      handler: async ({ principal: { organizationId }, change }, { params }) => {
        const id = Number(params.id);
        const { customDomain, record } = await shown(organizationId, id);
        // Before the transaction, which a question to name servers would keep open.
        await hosts.require(id, customDomain);
        return change(async (made) => {
          const provenAt = new Date(made.nowMs);
          // It may have been another host since.
          const [page] = await unlessTaken(
            made.tx<{ slug: string }[]>`
              UPDATE status_pages SET custom_domain_proven_at = ${provenAt}
              WHERE organization_id = ${organizationId} AND id = ${id} AND custom_domain = ${customDomain}
              RETURNING slug`,
          );
          if (page === undefined)
            throw new ApiError("CONFLICT", "The host of the page was changed meanwhile.");
          made.afterCommit(() => onChanged(page.slug));
          made.record({ resource: `status-page:${id}`, after: { customDomain } });
          return { status: 200, body: { customDomain, provenAt: provenAt.toISOString(), record } };
        });
      },
    }),
  ];
}

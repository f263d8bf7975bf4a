import type { Sql } from "postgres";
import { Type } from "typebox";
import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { ApiError, type FieldIssue, validationFailed } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import { IdParams } from "../../http/record-schemas.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import type { PasswordHasher } from "../../identity/password-hasher.ts";
import type { HostProof } from "./host-proof.ts";
import { PAGES_MAX } from "./limits.ts";
import type { PublishedName } from "./page-row.ts";
import { CreatePageBody, PagePassword, StatusPage, UpdatePageBody } from "./types.ts";
import { unlessTaken } from "./unless-taken.ts";

export interface StatusPageDependencies {
  readonly sql: Sql;
  readonly passwords: Pick<PasswordHasher, "hash">;
  /** Where the server is reached: no page has this host. */
  readonly publicUrl: string;
  readonly hosts: Pick<HostProof, "isVouched">;
  /** A page is not what it was. */
  readonly onChanged: (slug: string) => void;
}

/** Slugs that are words of paths. */
const RESERVED = ["by-host", "unsubscribe"];
/** What goes into a page besides what people say of it. */
interface Proof {
  readonly customDomainProvenAt?: string | null;
}

const READ = { role: "admin", scope: "status-pages:read" } as const;
const WRITE = { role: "admin", scope: "status-pages:write" } as const;

/** Status pages as their organisation makes them. */
export function statusPageRoutes({ sql, passwords, publicUrl, hosts, onChanged }: StatusPageDependencies) {
  const pages = new Records<typeof StatusPage, CreatePageBody & Proof, UpdatePageBody & Proof>({
    noun: "status page",
    table: "status_pages",
    schema: StatusPage,
    maxPerOrganization: PAGES_MAX,
    check: async (fields, _before, change) => {
      const issues = [...ownIssues(fields, publicUrl), ...(await monitorIssues(change, fields))];
      if (issues.length > 0) throw validationFailed(issues);
    },
  });
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
  /** A host that is new has been proven by nobody, but for one that whoever runs the server vouches for. */
  const proofOf = (
    { customDomain: host }: UpdatePageBody,
    before: string | null,
    { nowMs }: Change,
  ): Proof => {
    if (host === undefined || host === before) return {};
    const isProven = host !== null && hosts.isVouched(host);
    return { customDomainProvenAt: isProven ? new Date(nowMs).toISOString() : null };
  };
  const told = (change: Change, ...slugs: readonly string[]): void =>
    change.afterCommit(() => slugs.forEach(onChanged));
  return [
    routes.list("Oldest first", ({ organizationId }) => pages.list(sql, organizationId)),
    routes.create(CreatePageBody, StatusPage, (change, body) => {
      told(change, body.slug);
      return unlessTaken(pages.create(change, { ...body, ...proofOf(body, null, change) }));
    }),
    routes.read(StatusPage, ({ organizationId }, id) => pages.read(sql, organizationId, id)),
    routes.update(
      UpdatePageBody,
      async (change, id, body) => {
        const before = await pageOf(change, id);
        const proof = proofOf(body, before.customDomain, change);
        const after = await unlessTaken(pages.update(change, id, { ...body, ...proof }));
        told(change, before.slug, after.slug);
        return after;
      },
      { errors: ["CONFLICT"] },
    ),
    routes.remove(async (change, id) => {
      told(change, (await pageOf(change, id)).slug);
      await pages.remove(change, id);
    }),
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
          told(made, (await pageOf(made, id)).slug);
          await made.tx`
            UPDATE status_pages SET password_hash = ${hash}, password_version = password_version + 1
            WHERE organization_id = ${made.organizationId} AND id = ${id}`;
          made.record({ resource: `status-page:${id}`, after: { hasPassword: hash !== null } });
          return { status: 204 };
        });
      },
    }),
  ];
}

/** What a page is found by, locked. Throws NOT_FOUND for an id that the organisation has not. */
async function pageOf({ tx, organizationId }: Change, id: number): Promise<PublishedName> {
  const [row] = await tx<PublishedName[]>`
    SELECT slug, custom_domain AS "customDomain" FROM status_pages WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`;
  if (row === undefined) throw new ApiError("NOT_FOUND", "No such status page.");
  return row;
}

function ownIssues(
  { slug, customDomain, theme }: CreatePageBody | UpdatePageBody,
  publicUrl: string,
): FieldIssue[] {
  const issue = (path: string, message: string): FieldIssue => ({ path, code: "custom", message });
  const issues: FieldIssue[] = [];
  if (slug !== undefined && RESERVED.includes(slug)) issues.push(issue("/slug", "is reserved"));
  if (customDomain === new URL(publicUrl).hostname)
    issues.push(issue("/customDomain", "is where this server itself is reached"));
  const timezone = theme?.timezone;
  if (timezone !== undefined && !isTimezone(timezone))
    issues.push(issue("/theme/timezone", "is no time zone"));
  return issues;
}

function isTimezone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

async function monitorIssues(
  { tx, organizationId }: Change,
  { monitorIds }: CreatePageBody | UpdatePageBody,
): Promise<FieldIssue[]> {
  if (monitorIds === undefined || monitorIds.length === 0) return [];
  const rows = await tx<{ id: string }[]>`
    SELECT id FROM monitors
    WHERE organization_id = ${organizationId} AND id = ANY(${[...monitorIds]}::bigint[]) FOR KEY SHARE`;
  const found = new Set(rows.map(({ id }) => Number(id)));
  return monitorIds.flatMap((id, index) =>
    found.has(id)
      ? []
      : [{ path: `/monitorIds/${index}`, code: "custom", message: "is no monitor" } as const],
  );
}

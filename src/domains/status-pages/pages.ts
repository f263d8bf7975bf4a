import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { ApiError, type FieldIssue, validationFailed } from "../../errors.ts";
import type { HostProof } from "./host-proof.ts";
import { PAGES_MAX } from "./limits.ts";
import { type CreatePageBody, StatusPage, type UpdatePageBody } from "./types.ts";
import { unlessTaken } from "./unless-taken.ts";

export interface StatusPageVerbs {
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

/** What is found of a page that is changed. */
interface LockedPage {
  readonly slug: string;
  readonly customDomain: string | null;
  readonly isProven: boolean;
  readonly hasPassword: boolean;
}

/** What is done with status pages, whoever does it. */
export class StatusPages {
  readonly pages: Records<typeof StatusPage, CreatePageBody & Proof, UpdatePageBody & Proof>;
  readonly #verbs: StatusPageVerbs;

  constructor(verbs: StatusPageVerbs) {
    this.#verbs = verbs;
    this.pages = new Records({
      noun: "status page",
      table: "status_pages",
      schema: StatusPage,
      maxPerOrganization: PAGES_MAX,
      check: async (fields, before, change) => {
        const issues = [
          ...ownIssues(fields, verbs.publicUrl),
          ...(await monitorIssues(change, fields, before)),
        ];
        if (issues.length > 0) throw validationFailed(issues);
      },
    });
  }

  /** Throws VALIDATION_FAILED, and CONFLICT for a name that is taken and for one too many. */
  readonly create = (change: Change, body: CreatePageBody): Promise<StatusPage> => {
    this.told(change, body.slug);
    return unlessTaken(this.pages.create(change, { ...body, ...this.#proofOf(body, null, change) }));
  };

  /** Throws NOT_FOUND beside what `create` throws. */
  readonly update = async (change: Change, id: number, body: UpdatePageBody): Promise<StatusPage> => {
    const before = await pageOf(change, id);
    const proof = this.#proofOf(body, before, change);
    const after = await unlessTaken(this.pages.update(change, id, { ...body, ...proof }));
    this.told(change, before.slug, after.slug);
    return after;
  };

  /** Throws NOT_FOUND. */
  readonly remove = async (change: Change, id: number): Promise<void> => {
    this.told(change, (await pageOf(change, id)).slug);
    await this.pages.remove(change, id);
  };

  /** Says, once the change is kept, that pages are not what they were. */
  told(change: Change, ...slugs: readonly string[]): void {
    change.afterCommit(() => slugs.forEach(this.#verbs.onChanged));
  }

  /** A host that is new has been proven by nobody, but for one that whoever runs the server vouches for. */
  #proofOf({ customDomain: host }: UpdatePageBody, before: LockedPage | null, { nowMs }: Change): Proof {
    if (host === undefined) return {};
    const isProven = host !== null && this.#verbs.hosts.isVouched(host);
    if (host === before?.customDomain && (before.isProven || !isProven)) return {};
    return { customDomainProvenAt: isProven ? new Date(nowMs).toISOString() : null };
  }
}

/** What a page is found by, locked. Throws NOT_FOUND for an id that the organisation has not. */
export async function pageOf({ tx, organizationId }: Change, id: number): Promise<LockedPage> {
  const [row] = await tx<LockedPage[]>`
    SELECT slug, custom_domain AS "customDomain", custom_domain_proven_at IS NOT NULL AS "isProven", has_password AS "hasPassword"
    FROM status_pages WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`;
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

/** What the page had before and has been deleted since is passed over, as it is where the page is shown. */
async function monitorIssues(
  { tx, organizationId }: Change,
  { monitorIds }: CreatePageBody | UpdatePageBody,
  before: StatusPage | null,
): Promise<FieldIssue[]> {
  if (monitorIds === undefined || monitorIds.length === 0) return [];
  const rows = await tx<{ id: string }[]>`
    SELECT id FROM monitors
    WHERE organization_id = ${organizationId} AND id = ANY(${[...monitorIds]}::bigint[]) FOR KEY SHARE`;
  const found = new Set([...rows.map(({ id }) => Number(id)), ...(before?.monitorIds ?? [])]);
  return monitorIds.flatMap((id, index) =>
    found.has(id)
      ? []
      : [{ path: `/monitorIds/${index}`, code: "custom", message: "is no monitor" } as const],
  );
}

import postgres, { type Sql } from "postgres";
import type { SecretBox } from "../../../access/secret-box.ts";
import type { Change } from "../../../changes/change.ts";
import { ApiError, type FieldIssue, validationFailed } from "../../../errors.ts";
import { requireRoleNow } from "../../../membership/acting-role.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { inOrganization, lockOrganization } from "../../../storage/organization-transaction.ts";
import type { Authenticator } from "../../authenticator.ts";
import type { OpenIdConversations } from "../openid-conversation.ts";
import { ProviderProblem } from "../provider-problem.ts";
import {
  type ConnectionFields,
  type ConnectionRecord,
  type DomainRecord,
  deleteConnection,
  findConnection,
  listDomains,
  markDomainVerified,
  putConnection,
  replaceDomains,
} from "./connection-store.ts";
import { describeDomain, mintChallenge, normaliseDomainName, requireRecord } from "./domain-verification.ts";
import { GROUP_NAME_MAX_CHARS, GROUP_ROLES_MAX } from "./limits.ts";
import { deleteSsoIdentities } from "./sso-identity-store.ts";
import { endOtherSessions, endSsoSessions } from "./sso-sessions.ts";
import type { TxtResolver } from "./txt-resolver.ts";
import type { PutSsoBody, SsoConnection, SsoDomain } from "./types.ts";

export interface SsoConnectionDependencies {
  readonly sql: Sql;
  readonly box: SecretBox;
  readonly publicUrl: string;
  readonly authenticator: Pick<Authenticator, "forget">;
  readonly conversations: OpenIdConversations;
  readonly resolveTxt: TxtResolver;
}

export const SSO_CALLBACK_PATH = "/api/v1/auth/sso/callback";

export function secretPurpose(organizationId: number): string {
  return `sso-client-secret:${organizationId}`;
}

/** Throws NOT_FOUND. */
export async function describeConnection(
  { sql, publicUrl }: SsoConnectionDependencies,
  organizationId: number,
): Promise<SsoConnection> {
  const [connection, domains] = await askPostgres(() =>
    inOrganization(
      sql,
      organizationId,
      async (tx) =>
        [await findConnection(tx, organizationId), await listDomains(tx, organizationId)] as const,
    ),
  );
  if (connection === null) throw noConnection();
  return shown(connection, domains, publicUrl);
}

/** Judges what a schema cannot say and asks the provider who it is. Throws VALIDATION_FAILED and PROVIDER_UNAVAILABLE. */
export async function checkConnection(
  { conversations }: SsoConnectionDependencies,
  body: PutSsoBody,
): Promise<void> {
  const issues: FieldIssue[] = [];
  const groups = Object.keys(body.groupRoles ?? {});
  const isGroup = (name: string): boolean =>
    name.length <= GROUP_NAME_MAX_CHARS && !/[\p{Cc}\p{Cs}]/u.test(name);
  if (groups.length > GROUP_ROLES_MAX)
    issues.push({ path: "/groupRoles", code: "too_big", message: `has more than ${GROUP_ROLES_MAX} groups` });
  if (!groups.every(isGroup))
    issues.push({
      path: "/groupRoles",
      code: "custom",
      message: "has a group that is no line of at most 255 characters",
    });
  for (const [index, domain] of (body.domains ?? []).entries())
    if (normaliseDomainName(domain) === null)
      issues.push({
        path: `/domains/${index}`,
        code: "invalid_string",
        message: "must be the domain of email addresses",
      });
  if (issues.length > 0) throw validationFailed(issues);
  try {
    await conversations.check(body.issuer);
  } catch (error) {
    if (!(error instanceof ProviderProblem)) throw error;
    if (error.kind === "unavailable" && !error.isBlocked) throw error.toApiError();
    const message = error.isBlocked
      ? "leads to an address this server does not connect to"
      : "must be the issuer of an OpenID provider with https endpoints, exactly as it calls itself";
    throw validationFailed([{ path: "/issuer", code: "custom", message }]);
  }
}

/**
 * Sets the connection of an organisation. A new issuer knows nobody yet: the identities and sessions of the old one
 * end. Enforcement ends the sessions of all but owners that were not made through the provider. Throws CONFLICT for a
 * slug that is taken, VALIDATION_FAILED for a missing secret, and FORBIDDEN for an admin where groups make owners.
 */
export async function setConnection(
  change: Change,
  deps: SsoConnectionDependencies,
  body: PutSsoBody,
): Promise<SsoConnection> {
  const { tx, organizationId, nowMs } = change;
  await lockOrganization(tx, organizationId);
  const role = await requireRoleNow(change, "admin");
  const before = await findConnection(tx, organizationId);
  const domainsBefore = await listDomains(tx, organizationId);
  if (role !== "owner" && (makesOwners(body.groupRoles) || makesOwners(before?.groupRoles)))
    throw new ApiError("FORBIDDEN", "A connection whose groups make owners is changed by owners only.");
  const after = await put(change, fieldsOf(deps.box, organizationId, body, before));
  const domains = [...new Set((body.domains ?? []).map(normaliseDomainName))]
    .filter((domain) => domain !== null)
    .map((domain) => ({ domain, challenge: mintChallenge() }));
  await replaceDomains(tx, organizationId, domains, nowMs);
  const ended: Uint8Array[] = [];
  if (before !== null && before.issuer !== after.issuer) {
    await deleteSsoIdentities(tx, organizationId);
    ended.push(...(await endSsoSessions(tx, organizationId)));
  }
  if (after.enforced && before?.enforced !== true)
    ended.push(...(await endOtherSessions(tx, organizationId)));
  forget(change, deps, ended);
  const domainsAfter = await listDomains(tx, organizationId);
  change.record({
    resource: resourceOf(organizationId),
    before: before === null ? null : audited(before, domainsBefore, "former"),
    after: audited(after, domainsAfter, body.clientSecret === undefined ? "former" : "present"),
    sensitive: ["clientSecret"],
    facts: { endedSessions: ended.length },
  });
  return shown(after, domainsAfter, deps.publicUrl);
}

/** Removes the connection, and with it the sessions it has vouched for. Throws NOT_FOUND. */
export async function removeConnection(change: Change, deps: SsoConnectionDependencies): Promise<void> {
  const { tx, organizationId } = change;
  await lockOrganization(tx, organizationId);
  await requireRoleNow(change, "admin");
  const before = await findConnection(tx, organizationId);
  if (before === null) throw noConnection();
  const domains = await listDomains(tx, organizationId);
  await deleteConnection(tx, organizationId);
  const ended = await endSsoSessions(tx, organizationId);
  forget(change, deps, ended);
  change.record({
    resource: resourceOf(organizationId),
    before: audited(before, domains, "former"),
    sensitive: ["clientSecret"],
    facts: { endedSessions: ended.length },
  });
}

/** Looks for the DNS record of a domain. Throws NOT_FOUND, DOMAIN_NOT_VERIFIED and UNAVAILABLE. */
export async function findVerifiedRecord(
  { sql, resolveTxt }: SsoConnectionDependencies,
  organizationId: number,
  name: string,
): Promise<DomainRecord> {
  const domains = await askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => listDomains(tx, organizationId)),
  );
  const domain = domains.find((candidate) => candidate.domain === normaliseDomainName(name));
  if (domain === undefined) throw noDomain();
  await requireRecord(resolveTxt, domain);
  return domain;
}

/** Writes down what `findVerifiedRecord` has found. Throws NOT_FOUND when the domain has gone meanwhile. */
export async function verifyDomain(change: Change, found: DomainRecord): Promise<SsoDomain> {
  const { tx, organizationId, nowMs } = change;
  const verified = await markDomainVerified(tx, organizationId, found, nowMs);
  if (verified === null) throw noDomain();
  const [before, after] = [describeDomain(found), describeDomain(verified)];
  change.record({ resource: `sso-domain:${found.domain}`, before, after });
  return after;
}

async function put(
  { tx, organizationId, nowMs }: Change,
  fields: ConnectionFields,
): Promise<ConnectionRecord> {
  try {
    return await putConnection(tx, organizationId, fields, nowMs);
  } catch (error) {
    if (error instanceof postgres.PostgresError && error.constraint_name === "sso_connections_slug_key")
      throw new ApiError("CONFLICT", "This slug belongs to another organisation.");
    throw error;
  }
}

function fieldsOf(
  box: SecretBox,
  organizationId: number,
  body: PutSsoBody,
  before: ConnectionRecord | null,
): ConnectionFields {
  const { slug, issuer, clientId, clientSecret } = body;
  // Otherwise an admin could have the secret, which nobody is shown, sent to a server of their own.
  const staysSame = before?.issuer === issuer && before.clientId === clientId;
  const sealedSecret =
    clientSecret === undefined
      ? staysSame
        ? before.sealedSecret
        : null
      : box.seal(clientSecret, secretPurpose(organizationId));
  if (sealedSecret === null)
    throw validationFailed([
      { path: "/clientSecret", code: "invalid_type", message: "is needed for a new issuer or client" },
    ]);
  return {
    slug,
    issuer,
    clientId,
    sealedSecret,
    groupsClaim: body.groupsClaim ?? "groups",
    groupRoles: body.groupRoles ?? {},
    defaultRole: body.defaultRole ?? "viewer",
    enforced: body.enforced ?? false,
  };
}

function makesOwners(groupRoles: PutSsoBody["groupRoles"]): boolean {
  return Object.values(groupRoles ?? {}).includes("owner");
}

function forget(
  { afterCommit }: Change,
  { authenticator }: SsoConnectionDependencies,
  hashes: Uint8Array[],
): void {
  afterCommit(() => {
    for (const hash of hashes) authenticator.forget(hash);
  });
}

function shown(
  {
    slug,
    issuer,
    clientId,
    groupsClaim,
    groupRoles,
    defaultRole,
    enforced,
    createdAt,
    updatedAt,
  }: ConnectionRecord,
  domains: readonly DomainRecord[],
  publicUrl: string,
): SsoConnection {
  return {
    slug,
    issuer,
    clientId,
    groupsClaim,
    groupRoles,
    defaultRole,
    domains: domains.map(describeDomain),
    enforced,
    startUrl: new URL(`/api/v1/auth/sso/${slug}/start`, publicUrl).href,
    redirectUri: new URL(SSO_CALLBACK_PATH, publicUrl).href,
    createdAt,
    updatedAt,
  };
}

/** What is written down of a connection; of the secret only whether it is another one. */
function audited(
  { sealedSecret: _sealed, organizationId: _organization, ...fields }: ConnectionRecord,
  domains: readonly DomainRecord[],
  clientSecret: "former" | "present",
): object {
  return { ...fields, domains: domains.map(({ domain }) => domain), clientSecret };
}

function resourceOf(organizationId: number): string {
  return `sso:${organizationId}`;
}

function noConnection(): ApiError {
  return new ApiError("NOT_FOUND", "The organisation has no identity provider of its own.");
}

function noDomain(): ApiError {
  return new ApiError("NOT_FOUND", "The connection has no such domain.");
}

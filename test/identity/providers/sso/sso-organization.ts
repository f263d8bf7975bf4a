import type { Role } from "../../../../src/access/principal.ts";
import { hashToken, mintSessionToken } from "../../../../src/access/secret-token.ts";
import { SsoConnection, SsoDomain } from "../../../../src/identity/providers/sso/types.ts";
import type { TestStores } from "../../../harness/stores.ts";
import {
  bodyOf,
  freshEmail,
  type IdentityServer,
  PASSWORD,
  type Person,
  withCookie,
} from "../../identity-server.ts";
import type { NameServer } from "../name-server.ts";
import type { OpenIdPeer } from "../openid-peer.ts";

/** An organisation with a provider of its own and one verified domain. */
export interface SsoOrganization {
  readonly id: number;
  readonly owner: Person;
  readonly slug: string;
  readonly domain: string;
  /** Where to begin to sign in. */
  readonly start: string;
  /** Sets the connection anew, with these fields instead. */
  readonly configure: (fields?: Record<string, unknown>) => Promise<SsoConnection>;
}

interface MemberOptions {
  readonly email?: string;
  readonly emailIsVerified?: boolean;
}

interface TestMember {
  readonly userId: number;
  readonly email: string;
  /** Of a session made with a password. */
  readonly cookie: string;
}

/** Texts no other test uses. */
export const freshSlug = (): string => `acme-${crypto.randomUUID().slice(0, 8)}`;
export const freshDomain = (): string => `${crypto.randomUUID()}.example`;

export const putSso = (server: IdentityServer, cookie: string, json: unknown): Promise<Response> =>
  server.send("PUT", "/api/v1/me/sso", { headers: withCookie(cookie), json });

export const verify = (server: IdentityServer, cookie: string, domain: string): Promise<Response> =>
  server.send("POST", `/api/v1/me/sso/domains/${domain}/verify`, { headers: withCookie(cookie) });

/** Makes the DNS record that a connection asks for. */
export function publish(nameServer: NameServer, { domains }: SsoConnection): void {
  for (const { record } of domains) nameServer.records.set(record.name, ["v=spf1 -all", record.value]);
}

export async function ssoOrganization(
  server: IdentityServer,
  peer: OpenIdPeer,
  nameServer: NameServer,
  fields: Record<string, unknown> = {},
): Promise<SsoOrganization> {
  const owner = await server.register();
  const slug = freshSlug();
  const domain = freshDomain();
  const basic = {
    slug,
    issuer: peer.issuer,
    clientId: peer.clientId,
    clientSecret: peer.clientSecret,
    domains: [domain],
  };
  const configure = async (more: Record<string, unknown> = {}): Promise<SsoConnection> =>
    bodyOf(await putSso(server, owner.cookie, { ...basic, ...fields, ...more }), SsoConnection);
  publish(nameServer, await configure());
  await bodyOf(await verify(server, owner.cookie, domain), SsoDomain);
  return {
    id: owner.account.organization.id,
    owner,
    slug,
    domain,
    start: `/api/v1/auth/sso/${slug}/start`,
    configure,
  };
}

/** A person with a password who belongs to one organisation only. */
export async function memberOf(
  { postgres: sql }: TestStores,
  server: IdentityServer,
  organizationId: number,
  role: Role,
  { email = freshEmail(), emailIsVerified = true }: MemberOptions = {},
): Promise<TestMember> {
  const at = new Date(server.clock.now());
  const token = mintSessionToken();
  const [row] = await sql<{ id: string }[]>`
    WITH person AS (
      INSERT INTO users (email, password_hash, created_at, email_verified_at)
      VALUES (${email}, ${`cheap:${PASSWORD}`}, ${at}, ${emailIsVerified ? at : null}) RETURNING id
    ), membership AS (
      INSERT INTO memberships (organization_id, user_id, role, created_at)
      SELECT ${organizationId}, id, ${role}, ${at} FROM person
    )
    SELECT id FROM person`;
  const userId = Number(row?.id);
  await sql`
    INSERT INTO sessions (token_hash, organization_id, user_id, created_at, last_used_at, expires_at)
    VALUES (${hashToken(token)}, ${organizationId}, ${userId}, ${at}, ${at}, ${new Date(at.getTime() + 3_600_000)})`;
  return { userId, email, cookie: `session=${token}` };
}

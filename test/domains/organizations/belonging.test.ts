import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { Account, OwnOrganization } from "../../../src/membership/types.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import {
  bodyOf,
  cookieOf,
  freshEmail,
  PASSWORD,
  type Person,
  refusalOf,
  withCookie,
} from "../../identity/identity-server.ts";
import { auditOf, type OrganizationServer, organizationServer, REGISTER } from "./organization-server.ts";

const ORGANIZATIONS = "/api/v1/me/organizations";
const SWITCH = "/api/v1/auth/switch-organization";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** A person who belongs to their own organisation and to somebody else's. */
async function personOfTwo(server: OrganizationServer): Promise<{ owner: Person; person: Person }> {
  const owner = await server.register();
  const person = await server.register();
  const { token } = await server.invite(owner.cookie, person.email, "viewer");
  await server.as(person.cookie, "POST", "/api/v1/auth/accept-invite", { token });
  return { owner, person };
}

const organizationsOf = async (server: OrganizationServer, cookie: string): Promise<OwnOrganization[]> =>
  bodyOf(await server.as(cookie, "GET", ORGANIZATIONS), Type.Array(OwnOrganization));

const switchTo = (server: OrganizationServer, cookie: string, organizationId: unknown): Promise<Response> =>
  server.as(cookie, "POST", SWITCH, { organizationId });

describe("the organisations of a person", () => {
  test("are those they belong to, with what they are there", async () => {
    const server = organizationServer(stores);
    const { owner, person } = await personOfTwo(server);
    const joinedAt = person.account.user.createdAt;
    expect(await organizationsOf(server, person.cookie)).toEqual([
      { ...owner.account.organization, role: "viewer", joinedAt, isCurrent: false },
      { ...person.account.organization, role: "owner", joinedAt, isCurrent: true },
    ]);
    expect(await organizationsOf(server, owner.cookie)).toMatchObject([{ role: "owner", isCurrent: true }]);
  });

  test("beyond its own are not told to a token", async () => {
    const server = organizationServer(stores);
    const { person } = await personOfTwo(server);
    const { token } = await server.mint(person.cookie, { scopes: ["account:read"] });
    const answer = await server.send("GET", ORGANIZATIONS, { as: token });
    expect(await answer.json()).toMatchObject([{ id: person.account.organization.id, isCurrent: true }]);
  });
});

describe("switching the organisation", () => {
  test("makes a new session there and ends the old one on every instance", async () => {
    const server = organizationServer(stores);
    const { owner, person } = await personOfTwo(server);
    const answer = await switchTo(server, person.cookie, owner.account.organization.id);
    expect(answer.status).toBe(200);
    const cookie = cookieOf(answer);
    expect(await bodyOf(answer, Account)).toEqual({
      user: person.account.user,
      organization: owner.account.organization,
    });
    for (const at of [server, organizationServer(stores)]) {
      expect(await refusalOf(await at.as(person.cookie, "GET", ORGANIZATIONS))).toBe("401 UNAUTHENTICATED");
      const me = await at.send("GET", "/api/v1/me", { headers: withCookie(cookie) });
      expect(await me.json()).toMatchObject({ organization: owner.account.organization, role: "viewer" });
    }
    expect((await organizationsOf(server, cookie)).map(({ isCurrent }) => isCurrent)).toEqual([true, false]);
    expect((await auditOf(stores, owner.account.organization.id)).at(-1)).toMatchObject({
      action: "SWITCH_ORGANIZATION",
      resource: expect.stringMatching(/^session:\d+$/),
      actor: person.email,
    });
    expect(cookieOf(await switchTo(server, cookie, person.account.organization.id))).not.toBe(cookie);
  });

  test("to where one does not belong is not found, and the session goes on", async () => {
    const server = organizationServer(stores);
    const { owner, person } = await personOfTwo(server);
    for (const id of [person.account.organization.id, 2 ** 31 - 1])
      expect(await refusalOf(await switchTo(server, owner.cookie, id))).toBe("404 NOT_FOUND");
    for (const id of [0, -1, 1.5, "1", null, 2 ** 31])
      expect(await refusalOf(await switchTo(server, owner.cookie, id))).toBe("400 VALIDATION_FAILED");
    expect(await organizationsOf(server, owner.cookie)).toHaveLength(1);
  });

  test("takes a session, sent by a page of our own", async () => {
    const server = organizationServer(stores);
    const { owner, person } = await personOfTwo(server);
    const json = { organizationId: owner.account.organization.id };
    const { token } = await server.mint(person.cookie);
    expect(await refusalOf(await server.send("POST", SWITCH, { json }))).toBe("401 UNAUTHENTICATED");
    expect(await refusalOf(await server.send("POST", SWITCH, { json, as: token }))).toBe("403 FORBIDDEN");
    const headers = { cookie: person.cookie, origin: "https://evil.example" };
    expect(await refusalOf(await server.send("POST", SWITCH, { json, headers }))).toBe("403 FORBIDDEN");
    expect(await organizationsOf(server, person.cookie)).toHaveLength(2);
  });

  test("asked for twice at once makes one session of one", async () => {
    const server = organizationServer(stores);
    const { owner, person } = await personOfTwo(server);
    const answers = await Promise.all(
      [server, organizationServer(stores)].map((at) =>
        switchTo(at, person.cookie, owner.account.organization.id),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    const sessions = await stores.postgres`
      SELECT 1 FROM sessions WHERE user_id = ${person.account.user.id}`;
    expect(sessions).toHaveLength(1);
  });
});

describe("an organisation with a provider of its own", () => {
  /** Connects an organisation to a provider that it insists on. */
  const insist = ({ account }: Person): Promise<unknown> => stores.postgres`
    INSERT INTO sso_connections (organization_id, slug, issuer, client_id, client_secret, groups_claim, group_roles,
                                 default_role, enforced, created_at, updated_at)
    VALUES (${account.organization.id}, ${`org-${account.organization.id}`}, 'https://idp.example', 'client',
            ${Buffer.alloc(1)}, 'groups', '{}', 'viewer', true, now(), now())`;

  test("that it insists on is not entered otherwise, except by owners", async () => {
    const server = organizationServer(stores);
    const { owner, person } = await personOfTwo(server);
    const second = await server.register();
    const invite = await server.invite(owner.cookie, second.email, "owner");
    await server.as(second.cookie, "POST", "/api/v1/auth/accept-invite", { token: invite.token });
    const email = freshEmail();
    const { token } = await server.invite(owner.cookie, email, "member");
    await insist(owner);
    const { id } = owner.account.organization;
    expect(await refusalOf(await switchTo(server, person.cookie, id))).toBe("403 SSO_REQUIRED");
    expect((await switchTo(server, second.cookie, id)).status).toBe(200);
    const json = { email, password: PASSWORD, inviteToken: token };
    expect(await refusalOf(await server.send("POST", REGISTER, { json }))).toBe("403 SSO_REQUIRED");
    expect((await organizationsOf(server, person.cookie)).length).toBe(2);
  });

  test("makes sessions that reach no other organisation of the person", async () => {
    const server = organizationServer(stores);
    const { owner, person } = await personOfTwo(server);
    await stores.postgres`UPDATE sessions SET by_sso = true WHERE user_id = ${person.account.user.id}`;
    const { id } = owner.account.organization;
    expect(await refusalOf(await switchTo(server, person.cookie, id))).toBe("403 FORBIDDEN");
    const { token } = await server.invite((await server.register()).cookie, person.email, "viewer");
    const accepted = await server.as(person.cookie, "POST", "/api/v1/auth/accept-invite", { token });
    expect(await refusalOf(accepted)).toBe("403 FORBIDDEN");
    expect(await organizationsOf(server, person.cookie)).toMatchObject([
      { id: person.account.organization.id, isCurrent: true },
    ]);
  });
});

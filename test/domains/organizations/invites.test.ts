import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { hashToken } from "../../../src/access/secret-token.ts";
import {
  INVITE_LIFE_MS,
  INVITES_MAX,
  INVITES_PER_DAY_MAX,
  MEMBERS_MAX,
} from "../../../src/membership/limits.ts";
import { Invite } from "../../../src/membership/types.ts";
import { TEST_ORIGIN } from "../../harness/http-app.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import {
  bodyOf,
  freshEmail,
  PASSWORD,
  type Person,
  refusalOf,
  START_MS,
  withCookie,
} from "../../identity/identity-server.ts";
import {
  auditOf,
  INVITES,
  type OrganizationServer,
  organizationServer,
  REGISTER,
} from "./organization-server.ts";

const ACCEPT = "/api/v1/auth/accept-invite";
const INVITABLE = { viewer: [], member: [], admin: ["viewer", "member", "admin"] } as const;

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const listOf = async (server: OrganizationServer, { cookie }: Person): Promise<Invite[]> =>
  bodyOf(await server.as(cookie, "GET", INVITES), Type.Array(Invite));

const register = (server: OrganizationServer, email: string, inviteToken: string): Promise<Response> =>
  server.send("POST", REGISTER, { json: { email, password: PASSWORD, inviteToken } });

const accept = (server: OrganizationServer, { cookie }: Person, token: string): Promise<Response> =>
  server.as(cookie, "POST", ACCEPT, { token });

describe("an invite", () => {
  test("answers 201 with its token once; what is listed and stored is not the token", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const made = await server.as(owner.cookie, "POST", INVITES, {
      email: "Ana@EXAMPLE.com",
      role: "admin",
    });
    expect(made.status).toBe(201);
    const { token, ...invite } = JSON.parse(await made.text());
    expect(invite).toEqual({
      id: expect.any(Number),
      email: "ana@example.com",
      role: "admin",
      invitedBy: owner.account.user.id,
      createdAt: new Date(START_MS).toISOString(),
      expiresAt: new Date(START_MS + INVITE_LIFE_MS).toISOString(),
    });
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await listOf(server, owner)).toEqual([invite]);
    const [row] = await stores.postgres<{ row: string; token_hash: Uint8Array }[]>`
      SELECT i::text AS row, token_hash FROM invites i WHERE id = ${invite.id}`;
    expect(Buffer.from(row?.token_hash ?? []).equals(hashToken(token))).toBe(true);
    const audit = await auditOf(stores, owner.account.organization.id);
    expect(audit.at(-1)).toMatchObject({ action: "CREATE_INVITE", resource: `invite:${invite.id}` });
    const listed = await (await server.as(owner.cookie, "GET", INVITES)).text();
    for (const text of [row?.row, JSON.stringify(audit), listed]) expect(text).not.toContain(token);
  });

  test("is mailed with what its reader needs", async () => {
    const server = organizationServer(stores);
    const owner = await server.register({ organizationName: "Lighthouse" });
    const { email, token, expiresAt } = await server.invite(owner.cookie, freshEmail(), "viewer");
    const link = `${TEST_ORIGIN}/accept-invite#token=${token}`;
    const [mail, ...others] = server.mails;
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ message: { to: email, link }, expiresAtMs: Date.parse(expiresAt) });
    for (const said of [link, owner.email, "Lighthouse", "viewer"])
      expect(mail?.message.text).toContain(said);
  });

  test("that is refused is not mailed", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const waiting = async (): Promise<number> => (await stores.postgres`SELECT 1 FROM mail_outbox`).length;
    const before = await waiting();
    const json = { email: owner.email, role: "viewer" };
    expect(await refusalOf(await server.as(owner.cookie, "POST", INVITES, json))).toBe("409 CONFLICT");
    expect(await waiting()).toBe(before);
    await server.invite(owner.cookie, freshEmail(), "viewer");
    expect(await waiting()).toBe(before + 1);
  });

  test("asked for twice with one Idempotency-Key is made and mailed once", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const headers = { ...withCookie(owner.cookie), "idempotency-key": "once" };
    const ask = () =>
      server.send("POST", INVITES, { headers, json: { email: "a@example.com", role: "viewer" } });
    const [first, again] = [await (await ask()).text(), await ask()];
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.text()).toBe(first);
    expect(server.mails).toHaveLength(1);
  });

  test("of the same address replaces the one before", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const email = freshEmail();
    const first = await server.invite(owner.cookie, email, "admin");
    const second = await server.invite(owner.cookie, email.toUpperCase(), "viewer");
    expect(await listOf(server, owner)).toMatchObject([{ id: second.id, role: "viewer" }]);
    expect(await refusalOf(await register(server, email, first.token))).toBe("400 INVITE_INVALID");
    const actions = (await auditOf(stores, owner.account.organization.id)).slice(-2);
    expect(actions.map(({ action, resource }) => `${action} ${resource}`)).toEqual([
      `DELETE_INVITE invite:${first.id}`,
      `CREATE_INVITE invite:${second.id}`,
    ]);
  });

  test("is refused for a member, for no address, and for what is no role", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const ask = (json: unknown) => server.as(owner.cookie, "POST", INVITES, json);
    expect(await refusalOf(await ask({ email: owner.email.toUpperCase(), role: "viewer" }))).toBe(
      "409 CONFLICT",
    );
    for (const json of [
      {},
      { email: "a@example.com" },
      { email: "nobody", role: "viewer" },
      { email: "a@b@c", role: "viewer" },
      { email: "a@example.com", role: "root" },
      { email: "a@example.com", role: "viewer", organizationId: 1 },
    ])
      expect(await refusalOf(await ask(json))).toBe("400 VALIDATION_FAILED");
    expect(await listOf(server, owner)).toEqual([]);
  });

  test.each(["viewer", "member", "admin"] as const)(
    "goes no further than the inviter's role %s",
    async (role) => {
      const server = organizationServer(stores);
      const owner = await server.register();
      const { cookie } = await server.recruit(owner.cookie, role);
      for (const invited of ["viewer", "member", "admin", "owner"] as const) {
        const answer = await server.as(cookie, "POST", INVITES, { email: freshEmail(), role: invited });
        expect(answer.status).toBe(INVITABLE[role].some((name) => name === invited) ? 201 : 403);
      }
      expect((await server.as(cookie, "GET", INVITES)).status).toBe(role === "admin" ? 200 : 403);
      const { id } = await server.invite(owner.cookie, freshEmail(), "viewer");
      expect((await server.as(cookie, "DELETE", `${INVITES}/${id}`)).status).toBe(
        role === "admin" ? 204 : 403,
      );
    },
  );

  test("takes the scopes account:read and account:write of a token", async () => {
    const server = organizationServer(stores);
    const { cookie } = await server.register();
    const read = await server.mint(cookie, { scopes: ["account:read"] });
    const write = await server.mint(cookie, { scopes: ["account:write"] });
    const ask = (method: string, as: string): Promise<Response> =>
      server.send(method, INVITES, {
        as,
        ...(method === "POST" && { json: { email: freshEmail(), role: "viewer" } }),
      });
    expect((await ask("GET", read.token)).status).toBe(200);
    expect((await ask("POST", write.token)).status).toBe(201);
    expect(await refusalOf(await ask("GET", write.token))).toBe("403 PAT_SCOPE_INSUFFICIENT");
    expect(await refusalOf(await ask("POST", read.token))).toBe("403 PAT_SCOPE_INSUFFICIENT");
  });

  test("one too many is refused until another is taken back or over", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const { id: organizationId } = owner.account.organization;
    await stores.postgres`
      INSERT INTO invites (organization_id, email, role, token_hash, invited_by, created_at, expires_at)
      SELECT ${organizationId}, n || '@example.com', 'viewer', sha256(convert_to(${owner.email} || n, 'UTF8')),
             ${owner.account.user.id}, ${new Date(START_MS)}, ${new Date(START_MS + INVITE_LIFE_MS)}
      FROM generate_series(1, ${INVITES_MAX}::int) n`;
    const ask = () => server.as(owner.cookie, "POST", INVITES, { email: freshEmail(), role: "viewer" });
    expect(await refusalOf(await ask())).toBe("409 CONFLICT");
    const [first] = await listOf(server, owner);
    await server.as(owner.cookie, "DELETE", `${INVITES}/${first?.id}`);
    expect((await ask()).status).toBe(201);
    expect(await refusalOf(await ask())).toBe("409 CONFLICT");
    server.clock.advance(INVITE_LIFE_MS);
    expect(await listOf(server, owner)).toEqual([]);
    expect((await ask()).status).toBe(201);
  });

  test("is one of so many in a day, whatever became of the others", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const { id: organizationId } = owner.account.organization;
    await stores.postgres`
      INSERT INTO audit_log (organization_id, seq, created_at, actor_email, action, resource, meta, hash)
      SELECT ${organizationId}, 1000 + n, ${new Date(START_MS)}, 'a', 'CREATE_INVITE', 'invite:1', '{}', sha256('')
      FROM generate_series(1, ${INVITES_PER_DAY_MAX - 1}::int) n`;
    const ask = () => server.as(owner.cookie, "POST", INVITES, { email: "a@example.com", role: "viewer" });
    expect((await ask()).status).toBe(201);
    const refused = await ask();
    expect(refused.headers.get("retry-after")).not.toBeNull();
    expect(await refusalOf(refused)).toBe("429 RATE_LIMITED");
    expect(await listOf(server, owner)).toHaveLength(1);
    server.clock.advance(24 * 60 * 60 * 1000);
    expect((await ask()).status).toBe(201);
  });

  test("of another organisation cannot be listed or taken back", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const stranger = await server.register();
    const { id } = await server.invite(owner.cookie, freshEmail(), "viewer");
    expect(await listOf(server, stranger)).toEqual([]);
    for (const wrong of [id, 999_999_999, "x", 0])
      expect(await refusalOf(await server.as(stranger.cookie, "DELETE", `${INVITES}/${wrong}`))).toBe(
        "404 NOT_FOUND",
      );
    expect(await listOf(server, owner)).toHaveLength(1);
  });
});

describe("registering with an invite", () => {
  test("joins the organisation in the invited role instead of making one", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const person = await server.recruit(owner.cookie, "member");
    expect(person.account.organization).toEqual(owner.account.organization);
    const me = await server.send("GET", "/api/v1/me", { headers: withCookie(person.cookie) });
    expect(await me.json()).toMatchObject({ ...person.account, role: "member" });
    const memberships = await stores.postgres`
      SELECT role FROM memberships WHERE user_id = ${person.account.user.id}`;
    expect(memberships).toMatchObject([{ role: "member" }]);
    expect(await listOf(server, owner)).toEqual([]);
    const rows = (await auditOf(stores, owner.account.organization.id)).slice(-2);
    expect(rows).toMatchObject([
      { action: "REGISTER", resource: `member:${person.account.user.id}`, actor: person.email },
      { action: "REGISTER", resource: expect.stringMatching(/^session:/), actor: person.email },
    ]);
  });

  test("works once, for the invited address only, and not together with a name", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const email = freshEmail();
    const { token } = await server.invite(owner.cookie, email, "viewer");
    expect(await refusalOf(await register(server, freshEmail(), token))).toBe("400 INVITE_INVALID");
    expect(await refusalOf(await register(server, email, `${token}x`))).toBe("400 INVITE_INVALID");
    const json = { email, password: PASSWORD, inviteToken: token, organizationName: "Mine" };
    expect(await refusalOf(await server.send("POST", REGISTER, { json }))).toBe("400 VALIDATION_FAILED");
    expect((await register(server, email.toUpperCase(), token)).status).toBe(201);
    expect(await refusalOf(await register(server, freshEmail(), token))).toBe("400 INVITE_INVALID");
    expect(await refusalOf(await register(server, email, token))).toBe("409 CONFLICT");
  });

  test("does not make one member too many", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const email = freshEmail();
    const { token } = await server.invite(owner.cookie, email, "viewer");
    await stores.postgres`
      WITH people AS (
        INSERT INTO users (email, created_at)
        SELECT n || ${owner.email}, now() FROM generate_series(1, ${MEMBERS_MAX - 1}::int) n RETURNING id
      )
      INSERT INTO memberships (organization_id, user_id, role, created_at)
      SELECT ${owner.account.organization.id}, id, 'viewer', now() FROM people`;
    expect(await refusalOf(await register(server, email, token))).toBe("409 CONFLICT");
    const members = await server.membersOf(owner.cookie);
    expect(members).toHaveLength(MEMBERS_MAX);
    await server.as(owner.cookie, "DELETE", `/api/v1/me/members/${members.at(-1)?.userId}`);
    expect((await register(server, email, token)).status).toBe(201);
  });

  test("leaves nothing behind when the invite is refused", async () => {
    const server = organizationServer(stores);
    const email = freshEmail();
    expect(await refusalOf(await register(server, email, "made-up"))).toBe("400 INVITE_INVALID");
    expect((await server.register({ email })).email).toBe(email);
  });

  test("is too late after seven days and after the invite was taken back", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const late = await server.invite(owner.cookie, freshEmail(), "viewer");
    const inTime = await server.invite(owner.cookie, freshEmail(), "viewer");
    const revoked = await server.invite(owner.cookie, freshEmail(), "viewer");
    await server.as(owner.cookie, "DELETE", `${INVITES}/${revoked.id}`);
    expect(await refusalOf(await register(server, revoked.email, revoked.token))).toBe("400 INVITE_INVALID");
    server.clock.advance(INVITE_LIFE_MS - 1);
    expect((await register(server, inTime.email, inTime.token)).status).toBe(201);
    server.clock.advance(1);
    expect(await refusalOf(await register(server, late.email, late.token))).toBe("400 INVITE_INVALID");
  });
});

describe("accepting an invite", () => {
  test("makes a signed-in person a member there, and is written down there only", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const person = await server.register();
    const { id, token } = await server.invite(owner.cookie, person.email, "admin");
    const before = await auditOf(stores, person.account.organization.id);
    const answer = await accept(server, person, token);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ organization: owner.account.organization, role: "admin" });
    expect((await server.membersOf(owner.cookie)).map(({ email, role }) => [email, role])).toEqual([
      [owner.email, "owner"],
      [person.email, "admin"],
    ]);
    expect((await auditOf(stores, owner.account.organization.id)).at(-1)).toMatchObject({
      action: "ACCEPT_INVITE",
      resource: `member:${person.account.user.id}`,
      actor: person.email,
      meta: { inviteId: id, invitedBy: owner.account.user.id, diff: { role: { from: null, to: "admin" } } },
    });
    expect(await auditOf(stores, person.account.organization.id)).toEqual(before);
  });

  test("is refused for somebody else, for a member, twice, and for anything but a token of ours", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const person = await server.register();
    const { token } = await server.invite(owner.cookie, person.email, "viewer");
    expect(await refusalOf(await accept(server, await server.register(), token))).toBe("400 INVITE_INVALID");
    expect((await accept(server, person, token)).status).toBe(200);
    expect(await refusalOf(await accept(server, person, token))).toBe("400 INVITE_INVALID");
    for (const wrong of ["made-up", "\u0001", "é".repeat(200), person.cookie])
      expect(await refusalOf(await accept(server, person, wrong))).toBe("400 INVITE_INVALID");
    for (const json of [
      {},
      { token: "" },
      { token: 7 },
      { token: "x".repeat(201) },
      { token, role: "owner" },
    ])
      expect(await refusalOf(await server.as(person.cookie, "POST", ACCEPT, json))).toBe(
        "400 VALIDATION_FAILED",
      );
  });

  test("asked for by two requests at once joins once", async () => {
    const server = organizationServer(stores);
    const elsewhere = organizationServer(stores);
    const owner = await server.register();
    const person = await server.register();
    const { token } = await server.invite(owner.cookie, person.email, "viewer");
    const answers = await Promise.all(
      [server, elsewhere, server, elsewhere].map((at) => accept(at, person, token)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    expect(await server.membersOf(owner.cookie)).toHaveLength(2);
  });

  test("takes a session, sent by a page of our own", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const person = await server.register();
    const { token } = await server.invite(owner.cookie, person.email, "viewer");
    const pat = await server.mint(person.cookie);
    const json = { token };
    expect(await refusalOf(await server.send("POST", ACCEPT, { json }))).toBe("401 UNAUTHENTICATED");
    expect(await refusalOf(await server.send("POST", ACCEPT, { json, as: pat.token }))).toBe("403 FORBIDDEN");
    const both = { ...withCookie(person.cookie), authorization: `Bearer ${pat.token}` };
    expect(await refusalOf(await server.send("POST", ACCEPT, { json, headers: both }))).toBe("403 FORBIDDEN");
    for (const origin of ["https://evil.example", "null"]) {
      const headers = { cookie: person.cookie, origin };
      expect(await refusalOf(await server.send("POST", ACCEPT, { json, headers }))).toBe("403 FORBIDDEN");
    }
    expect(
      await refusalOf(await server.send("POST", ACCEPT, { json, headers: { cookie: person.cookie } })),
    ).toBe("403 FORBIDDEN");
    expect(await server.membersOf(owner.cookie)).toHaveLength(1);
  });
});

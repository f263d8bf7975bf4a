import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ROLES } from "../../../src/access/principal.ts";
import { CREDENTIAL_CACHE_LIFE_MS } from "../../../src/identity/limits.ts";
import { eventually } from "../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { Clock, refusalOf, withCookie } from "../../identity/identity-server.ts";
import { auditOf, INVITES, MEMBERS, organizationServer } from "./organization-server.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const member = (userId: number): string => `${MEMBERS}/${userId}`;

/** Runs requests against a held lock, so that all of them are under way before any of them gets on. */
async function atOnce(
  organizationId: number,
  requests: readonly (() => Promise<Response>)[],
): Promise<Response[]> {
  const { sent } = await stores.postgres.begin(async (tx) => {
    await tx`SELECT 1 FROM organizations WHERE id = ${organizationId} FOR UPDATE`;
    const under = requests.map((request) => request());
    await eventually("every request waits for the organisation", async () => {
      const waiting = await stores.postgres`
        SELECT DISTINCT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE NOT granted AND datname = current_database()`;
      return waiting.length === requests.length || null;
    });
    // In an object, because `begin` would await the requests before it commits.
    return { sent: under };
  });
  return Promise.all(sent);
}

describe("the list of members", () => {
  test("shows everybody of the organisation to any role, and nobody else", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    await server.register();
    const viewer = await server.recruit(owner.cookie, "viewer");
    expect(await server.membersOf(viewer.cookie)).toEqual([
      {
        userId: owner.account.user.id,
        email: owner.email,
        role: "owner",
        joinedAt: owner.account.user.createdAt,
      },
      {
        userId: viewer.account.user.id,
        email: viewer.email,
        role: "viewer",
        joinedAt: viewer.account.user.createdAt,
      },
    ]);
  });

  test("needs the scope account:read", async () => {
    const server = organizationServer(stores);
    const { cookie } = await server.register();
    const { token } = await server.mint(cookie, { scopes: ["logs:read"] });
    expect(await refusalOf(await server.send("GET", MEMBERS, { as: token }))).toBe(
      "403 PAT_SCOPE_INSUFFICIENT",
    );
  });
});

describe("a role", () => {
  test("is changed by an owner, works at once for every credential, and is audited", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const person = await server.recruit(owner.cookie, "admin");
    const { token } = await server.mint(person.cookie);
    const { user } = person.account;
    expect((await server.send("GET", INVITES, { as: token })).status).toBe(200);
    const changed = await server.as(owner.cookie, "PATCH", member(user.id), { role: "viewer" });
    expect(changed.status).toBe(200);
    expect(await changed.json()).toEqual({
      userId: user.id,
      email: person.email,
      role: "viewer",
      joinedAt: user.createdAt,
    });
    expect(await refusalOf(await server.send("GET", INVITES, { as: token }))).toBe("403 FORBIDDEN");
    expect(await refusalOf(await server.as(person.cookie, "GET", INVITES))).toBe("403 FORBIDDEN");
    const row = (await auditOf(stores, owner.account.organization.id)).at(-1);
    expect(row).toMatchObject({
      action: "UPDATE_MEMBER",
      resource: `member:${user.id}`,
      actor: owner.email,
      meta: { changedFields: ["role"], diff: { role: { from: "admin", to: "viewer" } } },
    });
  });

  test.each(["viewer", "member", "admin"] as const)("is not changed by the role %s", async (role) => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const person = await server.recruit(owner.cookie, role);
    const own = member(person.account.user.id);
    for (const path of [own, member(owner.account.user.id), member(999_999_999)])
      expect(await refusalOf(await server.as(person.cookie, "PATCH", path, { role: "owner" }))).toBe(
        "403 FORBIDDEN",
      );
    expect((await server.membersOf(owner.cookie)).map((found) => found.role)).toEqual(["owner", role]);
  });

  test("is one of four, and nothing else is changed with it", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const path = member(owner.account.user.id);
    for (const json of [{}, { role: "root" }, { role: null }, { role: "owner", email: "a@example.com" }])
      expect(await refusalOf(await server.as(owner.cookie, "PATCH", path, json))).toBe(
        "400 VALIDATION_FAILED",
      );
    for (const role of ROLES) {
      const other = await server.recruit(owner.cookie, "viewer");
      const answer = await server.as(owner.cookie, "PATCH", member(other.account.user.id), { role });
      expect(await answer.json()).toMatchObject({ role });
    }
  });

  test("of the sole owner stays, also when two owners demote each other at once", async () => {
    const server = organizationServer(stores);
    const first = await server.register();
    const { id: organizationId } = first.account.organization;
    const self = member(first.account.user.id);
    expect(await refusalOf(await server.as(first.cookie, "PATCH", self, { role: "admin" }))).toBe(
      "409 CONFLICT",
    );
    expect((await server.as(first.cookie, "PATCH", self, { role: "owner" })).status).toBe(200);
    const second = await server.recruit(first.cookie, "owner");
    const elsewhere = organizationServer(stores);
    const answers = await atOnce(organizationId, [
      () => server.as(first.cookie, "PATCH", member(second.account.user.id), { role: "viewer" }),
      () => elsewhere.as(second.cookie, "PATCH", self, { role: "viewer" }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
    const owners = await stores.postgres`
      SELECT 1 FROM memberships WHERE organization_id = ${organizationId} AND role = 'owner'`;
    expect(owners).toHaveLength(1);
  });

  test("of the last of two owners stays when both demote themselves at once", async () => {
    const server = organizationServer(stores);
    const first = await server.register();
    const second = await server.recruit(first.cookie, "owner");
    const answers = await atOnce(first.account.organization.id, [
      () => server.as(first.cookie, "PATCH", member(first.account.user.id), { role: "admin" }),
      () => server.as(second.cookie, "PATCH", member(second.account.user.id), { role: "admin" }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test("that sinks takes back the invites that go beyond it", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const deputy = await server.recruit(owner.cookie, "owner");
    const high = await server.invite(deputy.cookie, "high@example.com", "owner");
    const low = await server.invite(deputy.cookie, "low@example.com", "viewer");
    const path = member(deputy.account.user.id);
    const openIds = async (): Promise<number[]> => {
      const list: { id: number }[] = JSON.parse(await (await server.as(owner.cookie, "GET", INVITES)).text());
      return list.map(({ id }) => id);
    };
    expect(await openIds()).toEqual([high.id, low.id]);
    await server.as(owner.cookie, "PATCH", path, { role: "admin" });
    expect(await openIds()).toEqual([low.id]);
    await server.as(owner.cookie, "PATCH", path, { role: "member" });
    expect(await openIds()).toEqual([]);
  });
});

describe("removing a member", () => {
  test("ends their sessions and tokens here at once, and elsewhere within the life of the cache", async () => {
    const clock = new Clock();
    const here = organizationServer(stores, { clock });
    const elsewhere = organizationServer(stores, { clock });
    const owner = await here.register();
    const person = await here.recruit(owner.cookie, "member");
    const { token } = await here.mint(person.cookie);
    const opens = async (server: typeof here): Promise<number[]> => [
      (await server.send("GET", MEMBERS, { headers: withCookie(person.cookie) })).status,
      (await server.send("GET", MEMBERS, { as: token })).status,
    ];
    expect(await opens(here)).toEqual([200, 200]);
    expect(await opens(elsewhere)).toEqual([200, 200]);
    const removed = await here.as(owner.cookie, "DELETE", member(person.account.user.id));
    expect(removed.status).toBe(204);
    expect(removed.headers.get("set-cookie")).toBeNull();
    expect(await opens(here)).toEqual([401, 401]);
    clock.advance(CREDENTIAL_CACHE_LIFE_MS);
    expect(await opens(elsewhere)).toEqual([401, 401]);
    expect(await here.membersOf(owner.cookie)).toHaveLength(1);
  });

  test("is audited with what they were", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const person = await server.recruit(owner.cookie, "member");
    const { id } = person.account.user;
    await server.as(owner.cookie, "DELETE", member(id));
    expect((await auditOf(stores, owner.account.organization.id)).at(-1)).toMatchObject({
      action: "REMOVE_MEMBER",
      resource: `member:${id}`,
      meta: { snapshot: { userId: id, email: person.email, role: "member" } },
    });
  });

  test("leaves their sessions in other organisations alone", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const person = await server.register();
    const { token } = await server.invite(owner.cookie, person.email, "member");
    await server.as(person.cookie, "POST", "/api/v1/auth/accept-invite", { token });
    expect((await server.as(owner.cookie, "DELETE", member(person.account.user.id))).status).toBe(204);
    expect(await server.membersOf(person.cookie)).toHaveLength(1);
  });

  test("from their last organisation gives them one of their own to sign in to", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const person = await server.recruit(owner.cookie, "member");
    await server.as(owner.cookie, "DELETE", member(person.account.user.id));
    await server.deliverEvents();
    const login = await server.logIn(person.email);
    expect(login.status).toBe(200);
    const { organization } = JSON.parse(await login.text());
    expect(organization.id).not.toBe(owner.account.organization.id);
    const counted = await stores.postgres`
      SELECT role FROM memberships WHERE user_id = ${person.account.user.id}`;
    expect(counted).toMatchObject([{ role: "owner" }]);
  });

  test("takes an admin; an owner is removed by owners only, and anybody may leave", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const second = await server.recruit(owner.cookie, "owner");
    const admin = await server.recruit(owner.cookie, "admin");
    const viewer = await server.recruit(owner.cookie, "viewer");
    const worker = await server.recruit(owner.cookie, "member");
    const remove = (cookie: string, { account }: typeof owner): Promise<Response> =>
      server.as(cookie, "DELETE", member(account.user.id));
    for (const { cookie } of [viewer, worker])
      expect(await refusalOf(await remove(cookie, admin))).toBe("403 FORBIDDEN");
    expect(await refusalOf(await remove(admin.cookie, second))).toBe("403 FORBIDDEN");
    expect((await remove(admin.cookie, worker)).status).toBe(204);
    expect((await remove(owner.cookie, second)).status).toBe(204);
    const left = await remove(viewer.cookie, viewer);
    expect(left.status).toBe(204);
    expect(left.headers.get("set-cookie")).toStartWith("session=;");
    expect((await remove(admin.cookie, admin)).status).toBe(204);
    expect(await refusalOf(await remove(owner.cookie, owner))).toBe("409 CONFLICT");
    expect(await server.membersOf(owner.cookie)).toHaveLength(1);
  });

  test("never takes the last owner, also when two owners leave at once", async () => {
    const server = organizationServer(stores);
    const first = await server.register();
    const second = await server.recruit(first.cookie, "owner");
    const answers = await atOnce(
      first.account.organization.id,
      [first, second].map(
        ({ cookie, account }) =>
          () =>
            server.as(cookie, "DELETE", member(account.user.id)),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409]);
  });

  test("takes their open invites back", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const admin = await server.recruit(owner.cookie, "admin");
    const email = "way-back@example.com";
    const { token } = await server.invite(admin.cookie, email, "admin");
    await server.as(owner.cookie, "DELETE", member(admin.account.user.id));
    const json = { email, password: "correct horse battery", inviteToken: token };
    expect(await refusalOf(await server.send("POST", "/api/v1/auth/register", { json }))).toBe(
      "400 INVITE_INVALID",
    );
  });
});

describe("the id of a member", () => {
  test.each(["999999999", "0", "-1", "abc", "1e3", "9".repeat(40), "%00"])(
    "that is %s is not found",
    async (id) => {
      const server = organizationServer(stores);
      const { cookie } = await server.register();
      const path = `${MEMBERS}/${id}`;
      expect(await refusalOf(await server.as(cookie, "PATCH", path, { role: "viewer" }))).toBe(
        "404 NOT_FOUND",
      );
      expect(await refusalOf(await server.as(cookie, "DELETE", path))).toBe("404 NOT_FOUND");
    },
  );

  test("of another organisation is not found, and nothing happens to them", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const stranger = await server.register();
    const path = member(stranger.account.user.id);
    expect(await refusalOf(await server.as(owner.cookie, "PATCH", path, { role: "viewer" }))).toBe(
      "404 NOT_FOUND",
    );
    expect(await refusalOf(await server.as(owner.cookie, "DELETE", path))).toBe("404 NOT_FOUND");
    expect(await server.membersOf(stranger.cookie)).toMatchObject([{ role: "owner" }]);
  });
});

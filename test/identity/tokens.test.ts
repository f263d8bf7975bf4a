import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { hashToken } from "../../src/access/secret-token.ts";
import { CHANGES_MAX_RUNNING_OF_ONE } from "../../src/http/limits.ts";
import {
  CREDENTIAL_CACHE_LIFE_MS,
  TOKENS_PER_OWNER_MAX,
  USAGE_INTERVAL_MS,
} from "../../src/identity/limits.ts";
import { MintedToken, Token } from "../../src/identity/types.ts";
import { eventually } from "../harness/eventually.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import {
  bodyOf,
  ErrorAnswer,
  type IdentityServer,
  identityServer,
  refusalOf,
  START_MS,
  withCookie,
} from "./identity-server.ts";

const TOKENS = "/api/v1/me/tokens";
const HOUR_MS = 60 * 60 * 1000;
const ASKED_AT_ONCE = 6;

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const whoAmI = (server: IdentityServer, token: string): Promise<Response> =>
  server.send("GET", "/api/v1/me", { as: token });

const listOf = async (server: IdentityServer, cookie: string): Promise<Token[]> =>
  bodyOf(await server.send("GET", TOKENS, { headers: { cookie } }), Type.Array(Token));

describe("making a token", () => {
  test("answers 201 with the token in full, which then opens the account", async () => {
    const server = identityServer(stores);
    const { cookie, account } = await server.register();
    const response = await server.send("POST", TOKENS, {
      headers: withCookie(cookie),
      json: { name: "laptop" },
    });
    expect(response.status).toBe(201);
    const body: unknown = await response.json();
    expect(body).toEqual({
      id: expect.any(Number),
      name: "laptop",
      prefix: expect.stringMatching(/^obs_[A-Za-z0-9_-]{8}$/),
      token: expect.stringMatching(/^obs_[A-Za-z0-9_-]{43}$/),
      scopes: ["*"],
      dailyMutationLimit: null,
      dailyLogBytesLimit: null,
      createdAt: new Date(START_MS).toISOString(),
      expiresAt: null,
    });
    const { token, prefix } = await server.mint(cookie);
    expect(token.slice(0, 12)).toBe(prefix);
    const me = await whoAmI(server, token);
    expect(me.status).toBe(200);
    expect(me.headers.get("set-cookie")).toBeNull();
    expect(await me.json()).toEqual({
      ...account,
      role: "owner",
      emailVerified: false,
      mfaEnabled: false,
      scopes: ["*"],
      plan: { name: "self-hosted", limits: { monitors: null, monthlyChecks: null, monthlyLogBytes: null } },
      quota: {
        monitors: { limit: null, used: null },
        monthlyChecks: { limit: null, used: null },
        monthlyLogBytes: { limit: null, used: null },
      },
    });
  });

  test("stores the hash and the prefix and nothing else of it", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const { id, token, prefix } = await server.mint(cookie);
    const [row] = await stores.postgres<{ row: string; token_hash: Uint8Array }[]>`
      SELECT t::text AS row, token_hash FROM personal_access_tokens t WHERE id = ${id}`;
    expect(Buffer.from(row?.token_hash ?? []).toString("hex")).toBe(hashToken(token).toString("hex"));
    expect(row?.row).toContain(prefix);
    expect(row?.row).not.toContain(token.slice(12));
    expect(row?.row).not.toContain(token.slice(0, 13));
  });

  test("keeps what was asked for, once each", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const asked = {
      name: "Ключ 🔑 <b>",
      scopes: ["logs:read", "logs:read", "monitors:*"],
      dailyMutationLimit: 0,
      dailyLogBytesLimit: Number.MAX_SAFE_INTEGER,
      expiresAt: "2026-03-01T15:00:00+02:00",
    };
    const { token: _token, ...minted } = await server.mint(cookie, asked);
    expect(minted).toMatchObject({
      ...asked,
      scopes: ["logs:read", "monitors:*"],
      expiresAt: "2026-03-01T13:00:00.000Z",
    });
    expect(await listOf(server, cookie)).toEqual([{ ...minted, lastUsedAt: null }]);
  });

  test.each<[string, unknown, string]>([
    ["no name", {}, "/name"],
    ["an empty name", { name: "" }, "/name"],
    ["a blank name", { name: "  " }, "/name"],
    ["a name of two lines", { name: "a\nb" }, "/name"],
    ["a name with NUL", { name: "a\u0000b" }, "/name"],
    ["a name too long", { name: "a".repeat(256) }, "/name"],
    ["a name that is a number", { name: 7 }, "/name"],
    ["an unknown scope", { name: "a", scopes: ["logs:delete"] }, "/scopes/0"],
    ["a wildcard of no family", { name: "a", scopes: ["nothing:*"] }, "/scopes/0"],
    ["no scope at all", { name: "a", scopes: [] }, "/scopes"],
    ["scopes as text", { name: "a", scopes: "*" }, "/scopes"],
    ["an expiry in the past", { name: "a", expiresAt: "2026-03-01T12:00:00Z" }, "/expiresAt"],
    ["an expiry that is no time", { name: "a", expiresAt: "tomorrow" }, "/expiresAt"],
    ["an expiry on no day", { name: "a", expiresAt: "2027-02-30T00:00:00Z" }, "/expiresAt"],
    ["a negative cap", { name: "a", dailyMutationLimit: -1 }, "/dailyMutationLimit"],
    ["half a cap", { name: "a", dailyLogBytesLimit: 0.5 }, "/dailyLogBytesLimit"],
    ["a cap beyond exact integers", { name: "a", dailyLogBytesLimit: 2 ** 53 }, "/dailyLogBytesLimit"],
    ["somebody else's id", { name: "a", userId: 1 }, "/userId"],
    ["another organisation", { name: "a", organizationId: 1 }, "/organizationId"],
    ["a token of the caller's choice", { name: "a", token: `obs_${"a".repeat(43)}` }, "/token"],
  ])("refuses %s", async (_what, json, path) => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const response = await server.send("POST", TOKENS, { headers: withCookie(cookie), json });
    expect(response.status).toBe(400);
    const { code, fields } = await bodyOf(response, ErrorAnswer);
    expect(code).toBe("VALIDATION_FAILED");
    expect(fields?.map((field) => field.path)).toContain(path);
    expect(await listOf(server, cookie)).toEqual([]);
  });

  test("refuses a __proto__ key instead of inheriting from it", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const headers = { ...withCookie(cookie), "content-type": "application/json" };
    for (const body of ['{"__proto__":{"name":"a"}}', '{"name":"a","__proto__":{"scopes":["*"]}}']) {
      expect(await refusalOf(await server.send("POST", TOKENS, { headers, body }))).toBe(
        "400 VALIDATION_FAILED",
      );
    }
    expect(await listOf(server, cookie)).toEqual([]);
    expect(Object.hasOwn(Object.prototype, "name")).toBe(false);
  });

  test("by a token gives neither a longer life than its own nor another cap", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const expiresAt = "2026-03-02T12:00:00.000Z";
    const ending = await server.mint(cookie, { expiresAt });
    const mintWith = (token: string, body: Record<string, unknown>) =>
      server.send("POST", "/api/v1/me/tokens", {
        headers: { authorization: `Bearer ${token}` },
        json: { name: "child", ...body },
      });
    expect((await bodyOf(await mintWith(ending.token, {}), MintedToken)).expiresAt).toBe(expiresAt);
    const shorter = await mintWith(ending.token, { expiresAt: "2026-03-01T13:00:00.000Z" });
    expect((await bodyOf(shorter, MintedToken)).expiresAt).toBe("2026-03-01T13:00:00.000Z");
    const longer = await mintWith(ending.token, { expiresAt: "2026-03-02T12:00:00.001Z" });
    expect(await refusalOf(longer)).toBe("400 VALIDATION_FAILED");
    for (const cap of [{ dailyMutationLimit: 5 }, { dailyLogBytesLimit: 5 }]) {
      const capped = await server.mint(cookie, cap);
      expect(await refusalOf(await mintWith(capped.token, cap))).toBe("403 FORBIDDEN");
    }
  });

  test("stops at the most tokens a person can have, also when many are asked for at once", async () => {
    const server = identityServer(stores);
    const { cookie, account } = await server.register();
    const before = TOKENS_PER_OWNER_MAX - 2;
    await stores.postgres`
      INSERT INTO personal_access_tokens (token_hash, organization_id, user_id, name, prefix, scopes, created_at)
      SELECT sha256(convert_to(${account.user.email} || n, 'UTF8')), ${account.organization.id}, ${account.user.id},
             'bulk', 'obs_00000000', '{*}', ${new Date(START_MS)}
      FROM generate_series(1, ${before}::int) n`;
    const headers = withCookie(cookie);
    const ask = () => server.send("POST", TOKENS, { headers, json: { name: "more" } });
    // Counting goes on and inserting waits, until every request is as far as it gets beside the others.
    const { asked } = await stores.postgres.begin(async (tx) => {
      await tx`LOCK TABLE personal_access_tokens IN SHARE MODE`;
      const requests = Array.from({ length: ASKED_AT_ONCE }, ask);
      await eventually("all requests that may run wait for a lock, the others for them", async () => {
        const waiting = await stores.postgres`
          SELECT DISTINCT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
          WHERE NOT granted AND datname = current_database()`;
        return waiting.length === CHANGES_MAX_RUNNING_OF_ONE || null;
      });
      // In an object, because `begin` would await the requests before it commits.
      return { asked: requests };
    });
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 201, 409, 409, 409, 409]);
    const [first] = await listOf(server, cookie);
    await server.send("DELETE", `${TOKENS}/${first?.id}`, { headers });
    expect((await server.send("POST", TOKENS, { headers, json: { name: "again" } })).status).toBe(201);
  });
});

describe("listing tokens", () => {
  test("shows scopes, caps and times, and never the plaintext or its hash", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const { id, token, prefix } = await server.mint(cookie, {
      scopes: ["logs:write"],
      dailyMutationLimit: 5,
    });
    const response = await server.send("GET", TOKENS, { headers: { cookie } });
    expect(response.status).toBe(200);
    const text = await response.text();
    for (const secret of [token, token.slice(12), hashToken(token).toString("hex")]) {
      expect(text).not.toContain(secret);
    }
    expect(JSON.parse(text)).toEqual([
      {
        id,
        name: "laptop",
        prefix,
        scopes: ["logs:write"],
        dailyMutationLimit: 5,
        dailyLogBytesLimit: null,
        createdAt: new Date(START_MS).toISOString(),
        expiresAt: null,
        lastUsedAt: null,
      },
    ]);
  });

  test("shows the caller's own tokens only, expired ones included and revoked ones not", async () => {
    const server = identityServer(stores);
    const [ana, ben] = [await server.register(), await server.register()];
    const kept = await server.mint(ana.cookie, { expiresAt: new Date(START_MS + HOUR_MS).toISOString() });
    const revoked = await server.mint(ana.cookie);
    await server.mint(ben.cookie);
    await server.send("DELETE", `${TOKENS}/${revoked.id}`, { headers: withCookie(ana.cookie) });
    server.clock.advance(2 * HOUR_MS);
    expect((await listOf(server, ana.cookie)).map(({ id }) => id)).toEqual([kept.id]);
  });

  test("tells when a token was last used, to the minute", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const { token } = await server.mint(cookie);
    const lastUse = async (): Promise<string | null | undefined> => {
      await whoAmI(server, token);
      await server.authenticator.settled();
      return (await listOf(server, cookie))[0]?.lastUsedAt;
    };
    expect(await lastUse()).toBe(new Date(START_MS).toISOString());
    server.clock.advance(USAGE_INTERVAL_MS - 1);
    expect(await lastUse()).toBe(new Date(START_MS).toISOString());
    server.clock.advance(CREDENTIAL_CACHE_LIFE_MS);
    expect(await lastUse()).toBe(new Date(server.clock.now()).toISOString());
  });
});

describe("revoking a token", () => {
  test("answers 204, and the token fails at once here and within a second elsewhere", async () => {
    const server = identityServer(stores);
    const other = identityServer(stores, { clock: server.clock });
    const { cookie } = await server.register();
    const { id, token } = await server.mint(cookie);
    expect((await whoAmI(server, token)).status).toBe(200);
    expect((await whoAmI(other, token)).status).toBe(200);
    const revoked = await server.send("DELETE", `${TOKENS}/${id}`, { headers: withCookie(cookie) });
    expect(revoked.status).toBe(204);
    expect(await refusalOf(await whoAmI(server, token))).toBe("401 UNAUTHENTICATED");
    server.clock.advance(CREDENTIAL_CACHE_LIFE_MS);
    expect(await refusalOf(await whoAmI(other, token))).toBe("401 UNAUTHENTICATED");
  });

  test("twice answers 404 the second time", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const { id } = await server.mint(cookie);
    const revoke = () => server.send("DELETE", `${TOKENS}/${id}`, { headers: withCookie(cookie) });
    expect((await revoke()).status).toBe(204);
    expect(await refusalOf(await revoke())).toBe("404 NOT_FOUND");
  });

  test("of somebody else is 404 as for an id that does not exist, and the token goes on working", async () => {
    const server = identityServer(stores);
    const [ana, eve] = [await server.register(), await server.register()];
    const { id, token } = await server.mint(ana.cookie);
    const revoke = async (tokenId: number): Promise<unknown> => {
      const response = await server.send("DELETE", `${TOKENS}/${tokenId}`, {
        headers: withCookie(eve.cookie),
      });
      const { requestId: _, ...answer } = await bodyOf(response, ErrorAnswer);
      return { status: response.status, ...answer };
    };
    expect(await revoke(id)).toEqual(await revoke(999_999_999));
    expect(await revoke(id)).toMatchObject({ status: 404, code: "NOT_FOUND" });
    expect((await whoAmI(server, token)).status).toBe(200);
  });

  test("of a colleague in the same organisation is 404, an owner's too", async () => {
    const server = identityServer(stores);
    const [ana, ben] = [await server.register(), await server.register()];
    await stores.postgres`
      INSERT INTO memberships (organization_id, user_id, role, created_at)
      VALUES (${ana.account.organization.id}, ${ben.account.user.id}, 'member', ${new Date(START_MS - HOUR_MS)})`;
    const colleague = (await server.logIn(ben.email)).headers.get("set-cookie")?.split(";")[0] ?? "";
    const { id, token } = await server.mint(colleague);
    const revoked = await server.send("DELETE", `${TOKENS}/${id}`, { headers: withCookie(ana.cookie) });
    expect(await refusalOf(revoked)).toBe("404 NOT_FOUND");
    const me: unknown = await (await whoAmI(server, token)).json();
    expect(me).toMatchObject({ organization: { id: ana.account.organization.id }, role: "member" });
  });

  test.each(["0", "-1", "1.5", "1e3", "abc", "1'%20OR%20'1'='1", "9".repeat(17)])(
    "of the impossible id %p is 404",
    async (id) => {
      const server = identityServer(stores);
      const { cookie } = await server.register();
      const response = await server.send("DELETE", `${TOKENS}/${id}`, { headers: withCookie(cookie) });
      expect(await refusalOf(response)).toBe("404 NOT_FOUND");
    },
  );

  test("of an id beyond exact integers is 404", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const response = await server.send("DELETE", `${TOKENS}/${"9".repeat(16)}`, {
      headers: withCookie(cookie),
    });
    expect(await refusalOf(response)).toBe("404 NOT_FOUND");
  });
});

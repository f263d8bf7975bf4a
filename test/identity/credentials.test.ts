import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CREDENTIAL_CACHE_LIFE_MS } from "../../src/identity/limits.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import {
  type IdentityServer,
  identityServer,
  type Person,
  refusalOf,
  START_MS,
  withCookie,
} from "./identity-server.ts";

const ME = "/api/v1/me";
const TOKENS = "/api/v1/me/tokens";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const whoAmI = (server: IdentityServer, token: string): Promise<Response> =>
  server.send("GET", ME, { as: token });

describe("a request without a good credential", () => {
  test.each([
    ["GET", ME],
    ["GET", TOKENS],
    ["POST", TOKENS],
    ["DELETE", `${TOKENS}/1`],
  ])("gets 401 from %s %s", async (method, path) => {
    const server = identityServer(stores);
    expect(await refusalOf(await server.send(method, path))).toBe("401 UNAUTHENTICATED");
    const made = `obs_${"a".repeat(43)}`;
    expect(await refusalOf(await server.send(method, path, { as: made }))).toBe("401 UNAUTHENTICATED");
  });

  test.each([
    "",
    "obs_",
    "obs_short",
    `OBS_${"a".repeat(43)}`,
    `obs_${"a".repeat(44)}`,
    `obs_${"a".repeat(42)}!`,
  ])("gets 401 for the malformed token %p", async (token) => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await identityServer(stores).send("GET", ME, { headers });
    expect(await refusalOf(response)).toBe("401 UNAUTHENTICATED");
  });

  test("cannot use a session as a token, nor a token as a session, nor a stored hash as either", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const { id, token } = await server.mint(cookie);
    const [row] = await stores.postgres<{ hash: Uint8Array }[]>`
      SELECT token_hash AS hash FROM personal_access_tokens WHERE id = ${id}`;
    const hash = Buffer.from(row?.hash ?? []).toString("base64url");
    for (const bearer of [cookie.slice("session=".length), hash, `obs_${hash}`]) {
      expect(await refusalOf(await whoAmI(server, bearer))).toBe("401 UNAUTHENTICATED");
    }
    for (const session of [token, token.slice(4), hash]) {
      const response = await server.send("GET", ME, { headers: { cookie: `session=${session}` } });
      expect(await refusalOf(response)).toBe("401 UNAUTHENTICATED");
    }
  });

  test("is judged by its token alone when it carries a cookie as well", async () => {
    const server = identityServer(stores);
    const [ana, ben] = [await server.register(), await server.register()];
    const { token } = await server.mint(ana.cookie);
    const both = (bearer: string) =>
      server.send("GET", ME, { headers: { cookie: ben.cookie, authorization: `Bearer ${bearer}` } });
    const me: unknown = await (await both(token)).json();
    expect(me).toMatchObject({ user: { email: ana.email } });
    expect(await refusalOf(await both(`obs_${"a".repeat(43)}`))).toBe("401 UNAUTHENTICATED");
  });

  test("may name the scheme in any case", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const { token } = await server.mint(cookie);
    for (const authorization of [`bearer ${token}`, `BEARER  ${token}`]) {
      expect((await server.send("GET", ME, { headers: { authorization } })).status).toBe(200);
    }
  });
});

describe("an expired token", () => {
  test("fails from that moment on, also while it is remembered", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const expiresAt = new Date(START_MS + CREDENTIAL_CACHE_LIFE_MS / 2).toISOString();
    const { token } = await server.mint(cookie, { expiresAt });
    server.clock.advance(CREDENTIAL_CACHE_LIFE_MS / 2 - 1);
    expect((await whoAmI(server, token)).status).toBe(200);
    server.clock.advance(1);
    expect(await refusalOf(await whoAmI(server, token))).toBe("401 UNAUTHENTICATED");
    expect(await refusalOf(await whoAmI(identityServer(stores, { clock: server.clock }), token))).toBe(
      "401 UNAUTHENTICATED",
    );
  });
});

describe("the scopes of a token", () => {
  test.each([
    [["account:read"], 200, 403, 403],
    [["account:*"], 200, 403, 403],
    [["tokens:write"], 403, 201, 404],
    [["tokens:*"], 403, 201, 404],
    [["logs:read", "logs:write"], 403, 403, 403],
    [["*"], 200, 201, 404],
  ])("%p bound what it may do", async (scopes, read, make, revoke) => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const { token } = await server.mint(cookie, { scopes });
    const json = { name: "child", scopes: [scopes[0]] };
    const answers = [
      await server.send("GET", ME, { as: token }),
      await server.send("GET", TOKENS, { as: token }),
      await server.send("POST", TOKENS, { as: token, json }),
      await server.send("DELETE", `${TOKENS}/999999999`, { as: token }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([read, read, make, revoke]);
    for (const refused of answers.filter(({ status }) => status === 403)) {
      expect(await refusalOf(refused)).toBe("403 PAT_SCOPE_INSUFFICIENT");
    }
  });

  test("bound what it can pass on", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const { token } = await server.mint(cookie, { scopes: ["tokens:write", "logs:*", "monitors:read"] });
    const pass = (scopes?: string[]) =>
      server.send("POST", TOKENS, { as: token, json: { name: "child", ...(scopes && { scopes }) } });
    for (const held of [["logs:*"], ["logs:read", "logs:write"], ["monitors:read", "tokens:write"]]) {
      expect((await pass(held)).status).toBe(201);
    }
    for (const beyond of [undefined, ["*"], ["tokens:*"], ["monitors:*"], ["logs:read", "monitors:write"]]) {
      expect(await refusalOf(await pass(beyond))).toBe("403 PAT_SCOPE_INSUFFICIENT");
    }
  });

  test("do not bound it to itself: a token may revoke another one of its owner, and itself", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const spare = await server.mint(cookie);
    const { id, token } = await server.mint(cookie, { scopes: ["tokens:write"] });
    expect((await server.send("DELETE", `${TOKENS}/${spare.id}`, { as: token })).status).toBe(204);
    expect((await server.send("DELETE", `${TOKENS}/${id}`, { as: token })).status).toBe(204);
    expect(await refusalOf(await server.send("POST", TOKENS, { as: token, json: { name: "x" } }))).toBe(
      "401 UNAUTHENTICATED",
    );
  });

  test("need no Origin, because no browser adds a token by itself", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const { token } = await server.mint(cookie);
    const headers = { origin: "https://elsewhere.example", cookie };
    const made = await server.send("POST", TOKENS, { as: token, headers, json: { name: "script" } });
    expect(made.status).toBe(201);
  });
});

describe("a membership that ends", () => {
  const membership = ({ account }: Person) => stores.postgres`
    organization_id = ${account.organization.id} AND user_id = ${account.user.id}`;

  test("takes sessions and tokens with it within a second, and being invited again brings none back", async () => {
    const server = identityServer(stores);
    const ana = await server.register();
    const { token } = await server.mint(ana.cookie);
    const answers = async (): Promise<number[]> => [
      (await whoAmI(server, token)).status,
      (await server.send("GET", TOKENS, { headers: { cookie: ana.cookie } })).status,
    ];
    expect(await answers()).toEqual([200, 200]);
    await stores.postgres`DELETE FROM memberships WHERE ${membership(ana)}`;
    server.clock.advance(CREDENTIAL_CACHE_LIFE_MS);
    expect(await answers()).toEqual([401, 401]);
    const { organization, user } = ana.account;
    await stores.postgres`
      INSERT INTO memberships (organization_id, user_id, role, created_at)
      VALUES (${organization.id}, ${user.id}, 'member', ${new Date(START_MS)})`;
    server.clock.advance(CREDENTIAL_CACHE_LIFE_MS);
    expect(await answers()).toEqual([401, 401]);
  });

  test("mints nothing and tells nothing even while the credential is still remembered", async () => {
    const server = identityServer(stores);
    const ana = await server.register();
    expect((await server.send("GET", ME, { headers: { cookie: ana.cookie } })).status).toBe(200);
    await stores.postgres`DELETE FROM memberships WHERE ${membership(ana)}`;
    const headers = withCookie(ana.cookie);
    const made = await server.send("POST", TOKENS, { headers, json: { name: "late" } });
    expect(await refusalOf(made)).toBe("401 UNAUTHENTICATED");
    expect(await refusalOf(await server.send("GET", ME, { headers }))).toBe("401 UNAUTHENTICATED");
  });

  test("leaves nothing to log in to, and says so like a wrong password", async () => {
    const server = identityServer(stores);
    const ana = await server.register();
    await stores.postgres`DELETE FROM memberships WHERE ${membership(ana)}`;
    expect(await refusalOf(await server.logIn(ana.email))).toBe("401 INVALID_CREDENTIALS");
  });

  test("a role that changes counts for old tokens within a second", async () => {
    const server = identityServer(stores);
    const ana = await server.register();
    const { token } = await server.mint(ana.cookie);
    await whoAmI(server, token);
    await stores.postgres`UPDATE memberships SET role = 'viewer' WHERE ${membership(ana)}`;
    server.clock.advance(CREDENTIAL_CACHE_LIFE_MS);
    const me: unknown = await (await whoAmI(server, token)).json();
    expect(me).toMatchObject({ role: "viewer", scopes: ["*"] });
    const request = new Request("http://localhost/", { headers: { authorization: `Bearer ${token}` } });
    expect(await server.authenticator.authenticate(request)).toMatchObject({ role: "viewer", kind: "token" });
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hashToken } from "../../src/access/secret-token.ts";
import { SESSION_ABSOLUTE_MS, SESSION_IDLE_MS, SESSIONS_PER_USER_MAX } from "../../src/identity/limits.ts";
import { PasswordHasher } from "../../src/identity/password-hasher.ts";
import { TEST_ORIGIN } from "../harness/http-app.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import {
  cookieOf,
  freshEmail,
  type IdentityServer,
  identityServer,
  PASSWORD,
  refusalOf,
  START_MS,
  withCookie,
} from "./identity-server.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const whoAmI = (server: IdentityServer, cookie: string): Promise<Response> =>
  server.send("GET", "/api/v1/me", { headers: { cookie } });

const sessionsOf = async (userId: number): Promise<number> => {
  const rows = await stores.postgres`SELECT 1 FROM sessions WHERE user_id = ${userId}`;
  return rows.length;
};

describe("signing up and in", () => {
  test("registering answers 201 with the person and the organisation, and signs in", async () => {
    const server = identityServer(stores);
    const email = freshEmail();
    const json = { email, password: PASSWORD, organizationName: "Acme" };
    const response = await server.send("POST", "/api/v1/auth/register", { json });
    expect(response.status).toBe(201);
    const createdAt = new Date(START_MS).toISOString();
    expect(await response.json()).toEqual({
      user: { id: expect.any(Number), email, createdAt },
      organization: { id: expect.any(Number), name: "Acme", createdAt },
    });
    expect((await whoAmI(server, cookieOf(response))).status).toBe(200);
  });

  test("an organisation without a given name is named after its owner", async () => {
    const { account } = await identityServer(stores).register({ email: `ana.${freshEmail()}` });
    expect(account.organization.name).toMatch(/^ana\..+'s organization$/);
  });

  test("logging in answers 200 with the body that registering gave", async () => {
    const server = identityServer(stores);
    const { email, account } = await server.register();
    const response = await server.logIn(email);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(account);
    expect((await whoAmI(server, cookieOf(response))).status).toBe(200);
  });

  test("the password is stored as argon2id, and only the right one opens the account", async () => {
    const server = identityServer(stores, { passwords: new PasswordHasher({ concurrency: 1 }) });
    const { email, account } = await server.register();
    const [row] = await stores.postgres<{ password_hash: string }[]>`
      SELECT password_hash FROM users WHERE id = ${account.user.id}`;
    expect(row?.password_hash).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$");
    expect((await server.logIn(email)).status).toBe(200);
    expect(await refusalOf(await server.logIn(email, { password: `${PASSWORD} ` }))).toBe(
      "401 INVALID_CREDENTIALS",
    );
    expect(await refusalOf(await server.logIn(freshEmail()))).toBe("401 INVALID_CREDENTIALS");
  });

  test("an email that has an account answers 409, also to two people at the same moment", async () => {
    const server = identityServer(stores);
    const json = { email: freshEmail(), password: PASSWORD };
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => server.send("POST", "/api/v1/auth/register", { json })),
    );
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([201, 409, 409, 409]);
    const again = await server.send("POST", "/api/v1/auth/register", { json });
    expect(again.headers.get("set-cookie")).toBeNull();
    expect(await refusalOf(again)).toBe("409 CONFLICT");
    const rows = await stores.postgres`
      SELECT 1 FROM organizations o JOIN memberships m ON m.organization_id = o.id
      JOIN users u ON u.id = m.user_id WHERE u.email = ${json.email}`;
    expect(rows).toHaveLength(1);
  });
});

describe("the cookie", () => {
  test("is HttpOnly, SameSite=Lax, for the whole path and 30 days", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    const attributes = (await server.logIn(email)).headers.get("set-cookie")?.split("; ") ?? [];
    expect(attributes[0]).toMatch(/^session=[A-Za-z0-9_-]{43}$/);
    expect(attributes.slice(1).sort()).toEqual(["HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=Lax"]);
  });

  test("is Secure when the server is reached over https, also when it is cleared", async () => {
    const server = identityServer(stores, {
      secure: true,
      pipeline: { publicUrl: "https://obs.example.com" },
    });
    const json = { email: freshEmail(), password: PASSWORD };
    const registered = await server.send("POST", "/api/v1/auth/register", { json });
    expect(registered.headers.get("set-cookie")?.split("; ")).toContain("Secure");
    const headers = { cookie: cookieOf(registered), origin: "https://obs.example.com" };
    const left = await server.send("POST", "/api/v1/auth/logout", { headers });
    expect(left.headers.get("set-cookie")?.split("; ")).toContain("Secure");
  });

  test("is stored only as its hash", async () => {
    const { cookie, account } = await identityServer(stores).register();
    const [row] = await stores.postgres<{ row: string; token_hash: Uint8Array }[]>`
      SELECT s::text AS row, token_hash FROM sessions s WHERE user_id = ${account.user.id}`;
    const token = cookie.slice("session=".length);
    expect(row?.row).not.toContain(token);
    expect(Buffer.from(row?.token_hash ?? []).toString("hex")).toBe(hashToken(token).toString("hex"));
  });

  test("is set again where the person is asked for, so that it slides along with the session", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const answer = await whoAmI(server, cookie);
    expect(cookieOf(answer)).toBe(cookie);
  });

  test.each(["session=", "session=short", `session=${"a".repeat(43)}`, `session=${"é".repeat(43)}`])(
    "%p opens nothing",
    async (cookie) => {
      expect(await refusalOf(await whoAmI(identityServer(stores), encodeURI(cookie)))).toBe(
        "401 UNAUTHENTICATED",
      );
    },
  );

  test("beside another one of the same name is refused, because the genuine one cannot be told", async () => {
    const server = identityServer(stores);
    const [ana, eve] = [await server.register(), await server.register()];
    expect(await refusalOf(await whoAmI(server, `${ana.cookie}; ${eve.cookie}`))).toBe("401 UNAUTHENTICATED");
    expect((await whoAmI(server, `a=1; ${ana.cookie}; xsession=2`)).status).toBe(200);
  });
});

describe("the session", () => {
  test("ends at logout, here at once and on another instance within a second", async () => {
    const server = identityServer(stores);
    const other = identityServer(stores, { clock: server.clock });
    const { cookie, account } = await server.register();
    expect((await whoAmI(other, cookie)).status).toBe(200);
    const left = await server.send("POST", "/api/v1/auth/logout", { headers: withCookie(cookie) });
    expect(left.status).toBe(204);
    expect(left.headers.get("set-cookie")).toBe("session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
    expect(await refusalOf(await whoAmI(server, cookie))).toBe("401 UNAUTHENTICATED");
    server.clock.advance(1000);
    expect(await refusalOf(await whoAmI(other, cookie))).toBe("401 UNAUTHENTICATED");
    expect(await sessionsOf(account.user.id)).toBe(0);
  });

  test("logging out without a session, or with one that is over, is 204 as well", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const logout = (headers: Record<string, string>) =>
      server.send("POST", "/api/v1/auth/logout", { headers });
    expect((await logout({})).status).toBe(204);
    expect((await logout(withCookie(cookie))).status).toBe(204);
    expect((await logout(withCookie(cookie))).status).toBe(204);
  });

  test("logging out leaves the person's other sessions alone", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    const elsewhere = cookieOf(await server.logIn(email));
    await server.send("POST", "/api/v1/auth/logout", { headers: withCookie(cookie) });
    expect((await whoAmI(server, elsewhere)).status).toBe(200);
  });

  test("is new at every login, and the one brought along ends", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    expect((await whoAmI(server, cookie)).status).toBe(200);
    const second = cookieOf(await server.logIn(email, { cookie }));
    expect(second).not.toBe(cookie);
    expect(await refusalOf(await whoAmI(server, cookie))).toBe("401 UNAUTHENTICATED");
    expect((await whoAmI(server, second)).status).toBe(200);
  });

  test("planted before login never becomes the victim's", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    const planted = `session=${"p".repeat(43)}`;
    expect(cookieOf(await server.logIn(email, { cookie: planted }))).not.toBe(planted);
    expect(await refusalOf(await whoAmI(server, planted))).toBe("401 UNAUTHENTICATED");
  });

  test("survives a failed login that brought it along", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    expect((await server.logIn(email, { cookie, password: "wrong" })).status).toBe(401);
    expect((await whoAmI(server, cookie)).status).toBe(200);
  });

  test("ends 30 days after its last use", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    server.clock.advance(SESSION_IDLE_MS - 1);
    const other = identityServer(stores);
    other.clock.advance(SESSION_IDLE_MS);
    expect(await refusalOf(await whoAmI(other, cookie))).toBe("401 UNAUTHENTICATED");
    expect((await whoAmI(server, cookie)).status).toBe(200);
    await server.authenticator.settled();
    server.clock.advance(SESSION_IDLE_MS - 1);
    expect((await whoAmI(server, cookie)).status).toBe(200);
    await server.authenticator.settled();
    server.clock.advance(SESSION_IDLE_MS);
    expect(await refusalOf(await whoAmI(server, cookie))).toBe("401 UNAUTHENTICATED");
  });

  test("ends a year after login however busy it is", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const endsAtMs = START_MS + SESSION_ABSOLUTE_MS;
    while (server.clock.now() + 29 * DAY_MS < endsAtMs) {
      server.clock.advance(29 * DAY_MS);
      expect((await whoAmI(server, cookie)).status).toBe(200);
      await server.authenticator.settled();
    }
    server.clock.advance(endsAtMs - 1 - server.clock.now());
    expect((await whoAmI(server, cookie)).status).toBe(200);
    await server.authenticator.settled();
    server.clock.advance(1);
    expect(await refusalOf(await whoAmI(server, cookie))).toBe("401 UNAUTHENTICATED");
  });

  test("one too many ends the one unused for longest", async () => {
    const server = identityServer(stores);
    const { email, cookie, account } = await server.register();
    const cookies: string[] = [];
    for (let login = 0; login < SESSIONS_PER_USER_MAX; login += 1) {
      server.clock.advance(1000);
      cookies.push(cookieOf(await server.logIn(email)));
    }
    expect(await sessionsOf(account.user.id)).toBe(SESSIONS_PER_USER_MAX);
    expect((await whoAmI(server, cookie)).status).toBe(401);
    expect((await whoAmI(server, cookies[0] ?? "")).status).toBe(200);
  });
});

describe("a forged request", () => {
  const foreign = [
    undefined,
    "null",
    "https://evil.example",
    `${TEST_ORIGIN}.evil.example`,
    "http://localhost:8081",
  ];

  test.each(foreign)("that rides on the cookie from origin %p is 403 and changes nothing", async (origin) => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const headers = { cookie, ...(origin !== undefined && { origin }) };
    const made = await server.send("POST", "/api/v1/me/tokens", { headers, json: { name: "stolen" } });
    expect(await refusalOf(made)).toBe("403 FORBIDDEN");
    expect(await refusalOf(await server.send("POST", "/api/v1/auth/logout", { headers }))).toBe(
      "403 FORBIDDEN",
    );
    const { id } = await server.mint(cookie);
    const revoked = await server.send("DELETE", `/api/v1/me/tokens/${id}`, { headers });
    expect(await refusalOf(revoked)).toBe("403 FORBIDDEN");
    const list = await server.send("GET", "/api/v1/me/tokens", { headers: { cookie } });
    expect(await list.json()).toEqual([expect.objectContaining({ id })]);
  });
});

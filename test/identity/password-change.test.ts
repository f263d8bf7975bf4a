import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ACCOUNT_FREE_FAILURES, PASSWORD_MIN_CHARS } from "../../src/identity/limits.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import {
  cookieOf,
  freshEmail,
  type IdentityServer,
  identityServer,
  PASSWORD,
  refusalOf,
  withCookie,
} from "./identity-server.ts";

const CHANGE = "/api/v1/me/change-password";
const NEW_PASSWORD = "another horse, another battery";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const whoAmI = async (server: IdentityServer, cookie: string): Promise<number> =>
  (await server.send("GET", "/api/v1/me", { headers: { cookie } })).status;

function change(
  server: IdentityServer,
  cookie: string,
  json: Record<string, unknown> = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD },
): Promise<Response> {
  return server.send("POST", CHANGE, { headers: withCookie(cookie), json });
}

describe("changing the password", () => {
  test("ends the person's other sessions and keeps the one it was changed from", async () => {
    const server = identityServer(stores);
    const other = identityServer(stores, { clock: server.clock });
    const { email, cookie } = await server.register();
    const stranger = await server.register();
    const [here, there] = [cookieOf(await server.logIn(email)), cookieOf(await server.logIn(email))];
    expect(await whoAmI(other, there)).toBe(200);
    expect((await change(server, here)).status).toBe(204);
    expect(await whoAmI(server, here)).toBe(200);
    expect(await whoAmI(server, cookie)).toBe(401);
    expect(await whoAmI(server, there)).toBe(401);
    server.clock.advance(1_000);
    expect(await whoAmI(other, there)).toBe(401);
    expect(await whoAmI(server, stranger.cookie)).toBe(200);
    expect(await refusalOf(await server.logIn(email))).toBe("401 INVALID_CREDENTIALS");
    expect((await server.logIn(email, { password: NEW_PASSWORD })).status).toBe(200);
  });

  test("ends a mailed link that would change it again, and tells the person", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    await server.send("POST", "/api/v1/auth/forgot-password", { json: { email } });
    await server.issueLinks();
    const token = server.outgoing.at(-1)?.link?.split("token=")[1] ?? "";
    await change(server, cookie);
    const reset = await server.send("POST", "/api/v1/auth/reset-password", {
      json: { token, newPassword: PASSWORD },
    });
    expect(await refusalOf(reset)).toBe("400 LINK_INVALID");
    expect(server.outgoing.at(-1)).toMatchObject({ to: email, subject: "Your password was changed" });
  });

  test("stands in the audit log without either password", async () => {
    const server = identityServer(stores);
    const { cookie, account } = await server.register();
    await change(server, cookie);
    const rows = await stores.postgres`
      SELECT * FROM audit_log WHERE organization_id = ${account.organization.id} ORDER BY seq`;
    expect(rows.at(-1)).toMatchObject({
      action: "CHANGE_PASSWORD",
      resource: `user:${account.user.id}`,
      meta: { sessionsEnded: 0, changedFields: [] },
    });
    const written = JSON.stringify([rows, server.logged()]);
    for (const secret of [PASSWORD, NEW_PASSWORD, "cheap:"]) expect(written).not.toContain(secret);
  });

  test("takes 256 characters, with which the person can log in and change it again", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    const long = "ü".repeat(256);
    expect((await change(server, cookie, { currentPassword: PASSWORD, newPassword: long })).status).toBe(204);
    expect((await server.logIn(email, { password: long })).status).toBe(200);
    const back = await change(server, cookie, { currentPassword: long, newPassword: NEW_PASSWORD });
    expect(back.status).toBe(204);
  });

  test("is refused with a wrong present password, which counts as a failed login of the account", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    const guess = () => change(server, cookie, { currentPassword: "wrong", newPassword: NEW_PASSWORD });
    for (let i = 0; i <= ACCOUNT_FREE_FAILURES; i += 1)
      expect(await refusalOf(await guess())).toBe("401 INVALID_CREDENTIALS");
    expect(await refusalOf(await guess())).toBe("429 RATE_LIMITED");
    expect(await refusalOf(await server.logIn(email))).toBe("429 RATE_LIMITED");
  });

  test("at the same moment twice changes it once", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const answers = await Promise.all(
      [1, 2, 3].map((i) =>
        change(server, cookie, { currentPassword: PASSWORD, newPassword: `${NEW_PASSWORD} ${i}` }),
      ),
    );
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409 || status === 401)).toHaveLength(2);
  });

  test("needs the scope account:write of a token, and with one ends all sessions", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const json = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
    const withToken = async (scope: string): Promise<Response> => {
      const { token } = await server.mint(cookie, { scopes: [scope] });
      return server.send("POST", CHANGE, { headers: { authorization: `Bearer ${token}` }, json });
    };
    expect(await refusalOf(await withToken("account:read"))).toBe("403 PAT_SCOPE_INSUFFICIENT");
    expect((await withToken("account:write")).status).toBe(204);
    expect(await whoAmI(server, cookie)).toBe(401);
  });

  test("from a foreign page is refused", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    const json = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
    const headers = { cookie, origin: "https://evil.example" };
    expect(await refusalOf(await server.send("POST", CHANGE, { headers, json }))).toBe("403 FORBIDDEN");
    expect((await server.logIn(email)).status).toBe(200);
  });
});

describe("a common password", () => {
  const list = readFileSync(join(import.meta.dir, "../../src/identity/common-passwords.txt"), "utf8");

  test("is what the list has 3000 of, each long enough to be tried here", () => {
    const words = list.trimEnd().split("\n");
    expect(new Set(words).size).toBe(3_000);
    expect(words.filter((word) => word.length < PASSWORD_MIN_CHARS)).toEqual([]);
    expect(words.filter((word) => word !== word.normalize("NFKC").toLowerCase().trim())).toEqual([]);
  });

  test.each([
    ["1q2w3e4r5t6y", "as it is"],
    ["QwertyQwerty", "in another case"],
    ["１２３４５６１２３４５６", "in wide digits"],
  ])("%s (%s) is refused at every door, with a clear message and before it is hashed", async (password) => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    const hashes = server.hashing.hashes;
    const changed = await change(server, cookie, { currentPassword: PASSWORD, newPassword: password });
    const registered = await server.send("POST", "/api/v1/auth/register", {
      json: { email: freshEmail(), password },
    });
    for (const [answer, path] of [
      [changed, "/newPassword"],
      [registered, "/password"],
    ] as const) {
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        error: "The password is one of the most common passwords; choose another one.",
        code: "VALIDATION_FAILED",
        fields: [{ path, code: "custom", message: expect.stringContaining("most common passwords") }],
      });
    }
    expect(server.hashing.hashes).toBe(hashes);
  });

  test("is also the person's own address, however it is spelt", async () => {
    const server = identityServer(stores);
    const email = freshEmail();
    const json = { email, password: email.toUpperCase() };
    expect(await refusalOf(await server.send("POST", "/api/v1/auth/register", { json }))).toBe(
      "400 VALIDATION_FAILED",
    );
  });
});

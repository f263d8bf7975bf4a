import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ACCOUNT_FREE_FAILURES, ADDRESS_FREE_FAILURES } from "../../src/identity/limits.ts";
import { argon2id, DUMMY_PASSWORD_HASH, PasswordHasher } from "../../src/identity/password-hasher.ts";
import { TEST_ORIGIN } from "../harness/http-app.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import {
  bodyOf,
  cookieOf,
  ErrorAnswer,
  freshEmail,
  type IdentityServer,
  identityServer,
  PASSWORD,
  refusalOf,
} from "./identity-server.ts";

const REGISTER = "/api/v1/auth/register";
const LOGIN = "/api/v1/auth/login";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** What a refusal says, without what differs from request to request. */
async function wordsOf(response: Response): Promise<unknown> {
  return { ...(await bodyOf(response, ErrorAnswer)), requestId: "" };
}

describe("a body", () => {
  const valid = { email: "cy@refused.example", password: PASSWORD };
  const both: [string, object, string, string][] = [
    ["no email", { password: PASSWORD }, "/email", "invalid_type"],
    ["a number as email", { ...valid, email: 7 }, "/email", "invalid_type"],
    ["an email that is none", { ...valid, email: "nobody" }, "/email", "invalid_string"],
    ["an invisible letter", { ...valid, email: "c\u200by@refused.example" }, "/email", "invalid_string"],
    ["look-alike letters", { ...valid, email: "c\u0430t@refused.example" }, "/email", "invalid_string"],
    ["a zero byte", { ...valid, email: "c\u0000y@refused.example" }, "/email", "invalid_string"],
    ["a long email", { ...valid, email: `${"a".repeat(250)}@b.example` }, "/email", "too_big"],
    ["no password", { email: valid.email }, "/password", "invalid_type"],
    ["a role", { ...valid, role: "owner" }, "/role", "unrecognized_keys"],
    ["an organisation's id", { ...valid, organizationId: 1 }, "/organizationId", "unrecognized_keys"],
    ["a constructor", { ...valid, constructor: {} }, "/constructor", "unrecognized_keys"],
  ];
  const registering: [string, object, string, string][] = [
    ["a short password", { ...valid, password: "elevenchars" }, "/password", "too_small"],
    ["a long password", { ...valid, password: "x".repeat(129) }, "/password", "too_big"],
    ["an empty name", { ...valid, organizationName: "" }, "/organizationName", "too_small"],
    ["a long name", { ...valid, organizationName: "x".repeat(256) }, "/organizationName", "too_big"],
    ["a blank name", { ...valid, organizationName: " \u3000" }, "/organizationName", "invalid_string"],
    ["a zero byte in it", { ...valid, organizationName: "a\u0000" }, "/organizationName", "invalid_string"],
    ["half a character", { ...valid, organizationName: "\ud83d" }, "/organizationName", "invalid_string"],
    ["a code", { ...valid, totp: "123456" }, "/totp", "unrecognized_keys"],
  ];
  const loggingIn: [string, object, string, string][] = [
    ["an empty password", { ...valid, password: "" }, "/password", "too_small"],
    ["a longer password than any", { ...valid, password: "x".repeat(257) }, "/password", "too_big"],
    ["a short code", { ...valid, totp: "12345" }, "/totp", "too_small"],
    ["a long code", { ...valid, totp: "123456789012" }, "/totp", "too_big"],
    ["an organisation's name", { ...valid, organizationName: "x" }, "/organizationName", "unrecognized_keys"],
  ];
  const cases = [
    ...[...both, ...registering].map((row) => [REGISTER, ...row] as const),
    ...[...both, ...loggingIn].map((row) => [LOGIN, ...row] as const),
  ];

  test.each(cases)("of %s with %s is refused and says where", async (path, _case, json, at, code) => {
    const response = await identityServer(stores).send("POST", path, { json });
    expect(response.status).toBe(400);
    expect(response.headers.get("set-cookie")).toBeNull();
    const { fields, code: refusal } = await bodyOf(response, ErrorAnswer);
    expect(refusal).toBe("VALIDATION_FAILED");
    expect(fields).toContainEqual({ path: at, code, message: expect.any(String) });
  });

  test.each(["", "null", "[]", '"text"', "{", `{"email":"a@b.example","password":"${PASSWORD}"}}`])(
    "%p is no object and is refused",
    async (body) => {
      const headers = { "content-type": "application/json" };
      const response = await identityServer(stores).send("POST", REGISTER, { body, headers });
      expect(await refusalOf(response)).toBe("400 VALIDATION_FAILED");
    },
  );

  test("cannot smuggle fields in through __proto__", async () => {
    const body = `{"email":"di@refused.example","password":"${PASSWORD}","__proto__":{"role":"owner"}}`;
    const headers = { "content-type": "application/json" };
    const response = await identityServer(stores).send("POST", REGISTER, { body, headers });
    expect(await refusalOf(response)).toBe("400 VALIDATION_FAILED");
    expect(Reflect.get({}, "role")).toBeUndefined();
  });

  test("that is a form, which any page can send, is refused", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const body = `email=a%40b.example&password=${encodeURIComponent(PASSWORD)}`;
    const response = await identityServer(stores).send("POST", LOGIN, { body, headers });
    expect(await refusalOf(response)).toBe("415 UNSUPPORTED_MEDIA_TYPE");
  });

  test("that is refused creates no account", async () => {
    const rows = await stores.postgres`SELECT 1 FROM users WHERE email LIKE '%refused.example'`;
    expect(rows).toHaveLength(0);
  });
});

describe("an email", () => {
  test("has one account however it is spelt", async () => {
    const server = identityServer(stores);
    const mailbox = `jürgen-${crypto.randomUUID()}`;
    const { account } = await server.register({ email: `${mailbox}@MÜNCHEN.example` });
    expect(account.user.email).toBe(`${mailbox}@münchen.example`);
    for (const email of [`${mailbox.toUpperCase()}@xn--mnchen-3ya.example`, `${mailbox}@ｍünchen.example`]) {
      expect((await server.logIn(email)).status).toBe(200);
      const again = await server.send("POST", REGISTER, { json: { email, password: PASSWORD } });
      expect(await refusalOf(again)).toBe("409 CONFLICT");
    }
  });
});

describe("a login that fails", () => {
  test("is told in the same words and costs one hash, whether or not the account exists", async () => {
    const seen: string[] = [];
    const algorithm = {
      hash: argon2id.hash,
      verify: (password: string, hash: string) => {
        seen.push(hash);
        return argon2id.verify(password, hash);
      },
    };
    const server = identityServer(stores, { passwords: new PasswordHasher({ concurrency: 2, algorithm }) });
    const person = await server.register();
    const withoutPassword = await server.register();
    await stores.postgres`
      UPDATE users SET password_hash = NULL WHERE id = ${withoutPassword.account.user.id}`;

    const wrong = await server.logIn(person.email, { password: "not the password" });
    const unknown = await server.logIn(freshEmail());
    const passwordless = await server.logIn(withoutPassword.email);
    expect([wrong.status, unknown.status, passwordless.status]).toEqual([401, 401, 401]);
    const words = await wordsOf(wrong);
    expect(words).toMatchObject({ code: "INVALID_CREDENTIALS" });
    expect(await wordsOf(unknown)).toEqual(words);
    expect(await wordsOf(passwordless)).toEqual(words);
    expect(seen[0]).toStartWith("$argon2id$");
    expect(seen.slice(1)).toEqual([DUMMY_PASSWORD_HASH, DUMMY_PASSWORD_HASH]);
  });

  test("leaves neither password nor session nor token in the log, and neither does one that succeeds", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    const { token } = await server.mint(cookie);
    await server.logIn(email, { password: "a wrong secret" });
    await server.send("GET", "/api/v1/me", { headers: { authorization: `Bearer ${token}` } });
    const session = cookie.slice("session=".length);
    const log = JSON.stringify(server.logged());
    expect(log).toContain("/api/v1/auth/login");
    for (const secret of [PASSWORD, "a wrong secret", session, token]) expect(log).not.toContain(secret);
  });
});

describe("failed logins", () => {
  /** Guesses from ever other addresses, waiting as told; answers the seconds it was told to wait. */
  async function delaysOf(server: IdentityServer, email: string, guesses: number): Promise<number[]> {
    const delays: number[] = [];
    for (let guess = 0; guess < guesses; guess += 1) {
      const response = await server.logIn(email, { password: "wrong", from: `203.0.113.${guess}` });
      if (response.status === 401) continue;
      expect(await refusalOf(response)).toBe("429 RATE_LIMITED");
      const delaySec = Number(response.headers.get("retry-after"));
      delays.push(delaySec);
      server.clock.advance(delaySec * 1000);
    }
    return delays;
  }

  test("delay an account, longer each time, whether it exists or not", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    const known = await delaysOf(server, email, ACCOUNT_FREE_FAILURES + 9);
    expect(known).toEqual([1, 2, 4, 8]);
    expect(await delaysOf(server, freshEmail(), ACCOUNT_FREE_FAILURES + 9)).toEqual(known);
  });

  test("delay the right password too, in the same words and without a hash, and then let it in", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    await delaysOf(server, email, ACCOUNT_FREE_FAILURES + 1);
    const { verifies } = server.hashing;
    const right = await server.logIn(email);
    expect(right.headers.get("retry-after")).toBe("1");
    expect(await wordsOf(right)).toEqual(await wordsOf(await server.logIn(email, { password: "wrong" })));
    expect(server.hashing.verifies).toBe(verifies);
    server.clock.advance(1000);
    expect((await server.logIn(email)).status).toBe(200);
  });

  test("are forgotten when the owner gets in", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    for (let round = 0; round < 3; round += 1) {
      await delaysOf(server, email, ACCOUNT_FREE_FAILURES);
      expect((await server.logIn(email)).status).toBe(200);
    }
  });

  test("delay a whole network whichever accounts it tries, also when it logs into one of its own", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    const from = "2001:db8:1:2::5";
    for (let guess = 0; guess <= ADDRESS_FREE_FAILURES; guess += 1) {
      if (guess % 5 === 0) expect((await server.logIn(email, { from })).status).toBe(200);
      expect((await server.logIn(freshEmail(), { from })).status).toBe(401);
    }
    const neighbour = await server.logIn(freshEmail(), { from: "2001:db8:1:2:ffff::9" });
    expect(await refusalOf(neighbour)).toBe("429 RATE_LIMITED");
    expect((await server.logIn(email, { from: "2001:db8:1:3::5" })).status).toBe(200);
  });

  test("sent all at once get no further than one after the other", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    const guesses = Array.from({ length: 40 }, (_, n) =>
      server.logIn(email, { password: "wrong", from: `192.0.2.${n}` }),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(ACCOUNT_FREE_FAILURES + 1);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40 - ACCOUNT_FREE_FAILURES - 1);
  });
});

test("asking by registration which emails are known is slowed down by address, and costs no hash", async () => {
  const server = identityServer(stores);
  const { email } = await server.register();
  const { hashes } = server.hashing;
  const ask = () =>
    server.send("POST", REGISTER, { json: { email, password: PASSWORD }, peerAddress: "203.0.113.9" });
  for (let asked = 0; asked <= ADDRESS_FREE_FAILURES; asked += 1) {
    expect(await refusalOf(await ask())).toBe("409 CONFLICT");
  }
  const refused = await ask();
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await refusalOf(refused)).toBe("429 RATE_LIMITED");
  expect(server.hashing.hashes).toBe(hashes);
});

test("registering again and again, each time successfully, is not slowed down as failure", async () => {
  const server = identityServer(stores);
  for (let person = 0; person < ADDRESS_FREE_FAILURES + 5; person += 1) await server.register();
});

test("a terminal gets from nothing to a token with plain HTTP: register, keep the cookie, send the server's Origin", async () => {
  const server = identityServer(stores);
  const json = { email: freshEmail(), password: PASSWORD };
  const cookie = cookieOf(await server.send("POST", REGISTER, { json }));
  const asked = { json: { name: "terminal" }, headers: { cookie, origin: TEST_ORIGIN } };
  const minted: unknown = await (await server.send("POST", "/api/v1/me/tokens", asked)).json();
  const token = typeof minted === "object" && minted !== null && "token" in minted ? minted.token : "";
  const me = await server.send("GET", "/api/v1/me", { headers: { authorization: `Bearer ${token}` } });
  expect(me.status).toBe(200);
  expect(await me.json()).toMatchObject({
    user: { email: json.email },
    role: "owner",
    scopes: ["*"],
    plan: { name: "self-hosted", limits: { monitors: null, monthlyChecks: null, monthlyLogBytes: null } },
    quota: { monitors: { limit: null, used: null } },
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Changes } from "../../src/changes/changes.ts";
import { LINK_FREE_REQUESTS, LINKS_PER_PERSON_MAX, RESET_LINK_LIFE_MS } from "../../src/identity/limits.ts";
import { LinkIssuer } from "../../src/identity/mailed-links/link-issuer.ts";
import { createLogger } from "../../src/log.ts";
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

const FORGOT = "/api/v1/auth/forgot-password";
const RESET = "/api/v1/auth/reset-password";
const NEW_PASSWORD = "another horse, another battery";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const whoAmI = (server: IdentityServer, cookie: string): Promise<Response> =>
  server.send("GET", "/api/v1/me", { headers: { cookie } });

async function forget(server: IdentityServer, email: string, from = "192.0.2.1"): Promise<Response> {
  const answer = await server.send("POST", FORGOT, { json: { email }, peerAddress: from });
  await server.issueLinks();
  return answer;
}

/** The links to choose a new password that an address was mailed, oldest first. */
function resetLinks(server: IdentityServer, email: string): string[] {
  return server.outgoing
    .filter((mail) => mail.to === email && mail.subject === "Choose a new password")
    .map((mail) => mail.link ?? "");
}

function tokenOf(link: string): string {
  return (
    /^http:\/\/localhost:8080\/reset-password#token=([A-Za-z0-9_-]{43})$/.exec(link)?.[1] ?? `none in ${link}`
  );
}

/** Asks for a link and answers what it carries. */
async function resetToken(server: IdentityServer, email: string): Promise<string> {
  expect((await forget(server, email)).status).toBe(202);
  return tokenOf(resetLinks(server, email).at(-1) ?? "");
}

function reset(server: IdentityServer, token: string, newPassword = NEW_PASSWORD): Promise<Response> {
  return server.send("POST", RESET, { json: { token, newPassword } });
}

async function auditOf(organizationId: number) {
  return stores.postgres<{ action: string; resource: string; actor_email: string; meta: unknown }[]>`
    SELECT action, resource, actor_email, meta FROM audit_log
    WHERE organization_id = ${organizationId} ORDER BY seq`;
}

describe("a forgotten password", () => {
  test("is replaced with a mailed link, which ends every session and begins none", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    const elsewhere = cookieOf(await server.logIn(email));
    expect((await whoAmI(server, elsewhere)).status).toBe(200);
    const answer = await reset(server, await resetToken(server, email));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(await refusalOf(await whoAmI(server, cookie))).toBe("401 UNAUTHENTICATED");
    expect(await refusalOf(await whoAmI(server, elsewhere))).toBe("401 UNAUTHENTICATED");
    expect(await refusalOf(await server.logIn(email))).toBe("401 INVALID_CREDENTIALS");
    expect((await server.logIn(email, { password: NEW_PASSWORD })).status).toBe(200);
    expect(server.outgoing.at(-1)).toMatchObject({
      to: email,
      subject: "Your password was changed",
      link: null,
    });
  });

  test("leaves access tokens as they are", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    const { token } = await server.mint(cookie);
    await reset(server, await resetToken(server, email));
    const answer = await server.send("GET", "/api/v1/me", { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
  });

  test("ends sessions on other instances within a second", async () => {
    const server = identityServer(stores);
    const other = identityServer(stores, { clock: server.clock });
    const { email, cookie } = await server.register();
    expect((await whoAmI(other, cookie)).status).toBe(200);
    await reset(server, await resetToken(server, email));
    server.clock.advance(1_000);
    expect(await refusalOf(await whoAmI(other, cookie))).toBe("401 UNAUTHENTICATED");
  });

  test("that is asked for and replaced stands in the audit log, without token and password", async () => {
    const server = identityServer(stores);
    const { email, account } = await server.register();
    const token = await resetToken(server, email);
    await reset(server, token);
    const rows = await auditOf(account.organization.id);
    const resource = `user:${account.user.id}`;
    expect(rows.map((row) => row.action)).toEqual(["REGISTER", "REQUEST_PASSWORD_RESET", "RESET_PASSWORD"]);
    expect(rows[1]).toMatchObject({ resource, actor_email: email, meta: { ip: "192.0.2.1" } });
    expect(rows[2]).toMatchObject({ resource, meta: { sessionsEnded: 1 } });
    const text = JSON.stringify(rows);
    for (const secret of [token, NEW_PASSWORD, "cheap:"]) expect(text).not.toContain(secret);
  });
});

describe("a link to choose a new password", () => {
  test("works once, also for two people at the same moment on two instances", async () => {
    const server = identityServer(stores);
    const other = identityServer(stores, { clock: server.clock });
    const { email } = await server.register();
    const token = await resetToken(server, email);
    const answers = await Promise.all(
      [server, other, server, other].map((instance, i) => reset(instance, token, `${NEW_PASSWORD} ${i}`)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400]);
    expect(await refusalOf(await reset(server, token))).toBe("400 LINK_INVALID");
  });

  test("works for an hour", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    const [first, second] = [await resetToken(server, email), await resetToken(server, email)];
    server.clock.advance(RESET_LINK_LIFE_MS - 1);
    expect((await reset(server, first)).status).toBe(200);
    const third = await resetToken(server, email);
    server.clock.advance(RESET_LINK_LIFE_MS);
    expect(await refusalOf(await reset(server, second))).toBe("400 LINK_INVALID");
    expect(await refusalOf(await reset(server, third))).toBe("400 LINK_INVALID");
  });

  test("ends with its use all others, and two used at the same moment do not wait for each other", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    const tokens = [await resetToken(server, email), await resetToken(server, email)];
    const answers = await Promise.all(tokens.map((token) => reset(server, token)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  });

  test("goes on working when somebody asks for many more, up to a bound", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    const first = await resetToken(server, email);
    for (let i = 1; i < LINKS_PER_PERSON_MAX; i += 1) {
      server.clock.advance(60_000);
      await resetToken(server, email);
    }
    const rows = await stores.postgres`
      SELECT 1 FROM link_tokens l JOIN users u ON u.id = l.user_id
      WHERE u.email = ${email} AND purpose = 'reset-password'`;
    expect(rows).toHaveLength(LINKS_PER_PERSON_MAX);
    expect((await reset(server, first)).status).toBe(200);
  });

  test("survives a password that is refused", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    const token = await resetToken(server, email);
    const weak = await reset(server, token, "1Q2W3E4R5T6Y");
    expect(weak.status).toBe(400);
    expect(await weak.json()).toMatchObject({
      code: "VALIDATION_FAILED",
      fields: [{ path: "/newPassword", code: "custom" }],
    });
    expect((await reset(server, token)).status).toBe(200);
  });

  test("is stored as a hash only", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    const token = await resetToken(server, email);
    const rows = await stores.postgres<{ row: string }[]>`SELECT l::text AS row FROM link_tokens l`;
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  test("cannot be used for anything else, nor anything else in its place", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    const token = await resetToken(server, email);
    const verified = await server.send("GET", `/api/v1/auth/verify-email?token=${token}`);
    expect(await refusalOf(verified)).toBe("400 LINK_INVALID");
    const mailed = server.outgoing.find((mail) => mail.to === email)?.link ?? "";
    const verification = new URL(mailed).searchParams.get("token") ?? "";
    expect(await refusalOf(await reset(server, verification))).toBe("400 LINK_INVALID");
    expect(await refusalOf(await reset(server, cookie.slice("session=".length)))).toBe("400 LINK_INVALID");
  });

  test("costs no hash when it is made up, and making many up is slowed down", async () => {
    const server = identityServer(stores);
    const guess = () => reset(server, crypto.randomUUID());
    for (let i = 0; i < 21; i += 1) expect(await refusalOf(await guess())).toBe("400 LINK_INVALID");
    expect(await refusalOf(await guess())).toBe("429 RATE_LIMITED");
    expect(server.hashing.hashes).toBe(0);
  });

  test("is made of PUBLIC_URL, whatever a request calls the server", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    const headers = {
      host: "evil.example",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
      forwarded: "host=evil.example",
      origin: "https://evil.example",
      referer: "https://evil.example/",
    };
    await server.send("POST", FORGOT, { json: { email }, headers });
    await server.issueLinks();
    const mail = server.outgoing.find(({ subject }) => subject === "Choose a new password");
    expect(tokenOf(mail?.link ?? "")).toHaveLength(43);
    expect(JSON.stringify(mail)).not.toContain("evil.example");
  });
});

describe("asking for a link", () => {
  test("answers the same and does the same work whether or not the address has an account", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    const stranger = freshEmail();
    const statements: string[] = [];
    const before = server.hashing.hashes + server.hashing.verifies;
    const answers: unknown[] = [];
    for (const address of [email, stranger]) {
      const answer = await server.send("POST", FORGOT, { json: { email: address } });
      const head = [...answer.headers.keys()].toSorted();
      answers.push({ status: answer.status, head, body: await answer.json() });
      const rows = await stores.postgres<{ purpose: string }[]>`
        SELECT purpose FROM link_requests WHERE email = ${address}`;
      statements.push(JSON.stringify(rows));
    }
    expect(answers[0]).toEqual(answers[1]);
    // All that the answer waited for is one row, the same for both.
    expect(statements).toEqual(['[{"purpose":"reset-password"}]', '[{"purpose":"reset-password"}]']);
    expect(server.hashing.hashes + server.hashing.verifies).toBe(before);
    await server.issueLinks();
    expect(resetLinks(server, email)).toHaveLength(1);
    expect(resetLinks(server, stranger)).toEqual([]);
    expect(await stores.postgres`SELECT 1 FROM link_requests`).toHaveLength(0);
  });

  test("is slowed down by address asked for and by address asking, in the same words for all", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    for (const address of [email, freshEmail()]) {
      let requests = 0;
      let answer = await forget(server, address, `198.51.100.${requests}`);
      while (answer.status === 202 && requests < 20) {
        requests += 1;
        answer = await forget(server, address, `198.51.100.${requests}`);
      }
      expect(requests).toBe(LINK_FREE_REQUESTS + 1);
      expect(await refusalOf(answer)).toBe("429 RATE_LIMITED");
    }
    expect(resetLinks(server, email)).toHaveLength(LINK_FREE_REQUESTS + 1);
    let strangers = 0;
    while ((await forget(server, freshEmail(), "203.0.113.9")).status === 202) strangers += 1;
    expect(strangers).toBeLessThan(30);
  });

  test("reaches the account however its address is spelt, and a look-alike address never", async () => {
    const server = identityServer(stores);
    const local = `mike-${crypto.randomUUID()}`;
    const { email } = await server.register({ email: `${local}@example.com` });
    for (const typed of [`${local.toUpperCase()}@EXAMPLE.COM`, `${local}@ｅxample.com`])
      await forget(server, typed);
    expect(resetLinks(server, email)).toHaveLength(2);
    // Cyrillic letters that look Latin make another address, or none: the mail never goes to what was typed.
    for (const typed of [
      `${local.replace("i", "і")}@example.com`,
      `${local}@exаmple.com`,
      `${local}@example.com\n`,
    ]) {
      const answer = await forget(server, typed);
      expect([202, 400]).toContain(answer.status);
    }
    expect(resetLinks(server, email)).toHaveLength(2);
    expect(server.outgoing.every((mail) => mail.to === email)).toBe(true);
  });

  test.each([
    ['{"email":"a@example.com","email":["b@example.com"]}', "/email"],
    ['{"email":"a@example.com","__proto__":{"admin":true}}', "/__proto__"],
    ['{"email":["a@example.com","b@example.com"]}', "/email"],
    ['{"email":"a@example.com,b@example.com"}', "/email"],
    ['{"email":"a@example.com\\r\\nBcc: b@example.com"}', "/email"],
    ['{"email":"a@example.com\\u0000"}', "/email"],
    ['{"email":"\\"a b\\"@example.com"}', "/email"],
  ])("with the body %s is refused and mails nobody", async (body, path) => {
    const server = identityServer(stores);
    const headers = { "content-type": "application/json" };
    const answer = await server.send("POST", FORGOT, { body, headers });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "VALIDATION_FAILED", fields: [{ path }] });
    await server.issueLinks();
    expect(server.outgoing).toEqual([]);
  });

  test("is done by exactly one of several instances", async () => {
    const server = identityServer(stores);
    const other = identityServer(stores, { clock: server.clock });
    const { email } = await server.register();
    await server.send("POST", FORGOT, { json: { email } });
    await Promise.all([server.issueLinks(), other.issueLinks(), server.issueLinks()]);
    expect([...resetLinks(server, email), ...resetLinks(other, email)]).toHaveLength(1);
  });

  test("is dropped when it cannot be done, and stands in nobody's way", async () => {
    const server = identityServer(stores);
    const [ana, bob] = [await server.register(), await server.register()];
    const mailed: string[] = [];
    const links = new LinkIssuer({
      sql: stores.postgres,
      changes: new Changes({ sql: stores.postgres, now: server.clock.now }),
      enqueueMail: async (_tx, { to }) => {
        if (to === ana.email) throw new Error("this mail cannot be written");
        mailed.push(to);
      },
      onMail: () => undefined,
      publicUrl: "https://obs.example.com",
      log: createLogger("silent"),
      now: server.clock.now,
    });
    for (const { email } of [ana, bob]) await server.send("POST", FORGOT, { json: { email } });
    await links.issueRequested(new AbortController().signal);
    expect(mailed).toEqual([bob.email]);
    expect(await stores.postgres`SELECT 1 FROM link_requests`).toHaveLength(0);
    const left = await stores.postgres`
      SELECT 1 FROM link_tokens WHERE user_id = ${ana.account.user.id} AND purpose = 'reset-password'`;
    expect(left).toHaveLength(0);
  });
});

test("a login that began with the old password does not outlive a reset", async () => {
  const server = identityServer(stores);
  const { email, account } = await server.register();
  const token = await resetToken(server, email);
  const release = Promise.withResolvers<void>();
  const verify = server.hashing.verify.bind(server.hashing);
  server.hashing.verify = async (password, hash) => {
    const matches = await verify(password, hash);
    await release.promise;
    return matches;
  };
  const login = server.logIn(email);
  expect((await reset(server, token)).status).toBe(200);
  release.resolve();
  expect(await refusalOf(await login)).toBe("401 INVALID_CREDENTIALS");
  expect(await stores.postgres`SELECT 1 FROM sessions WHERE user_id = ${account.user.id}`).toHaveLength(0);
});

test("a reset says what it took to know the mailbox: the address counts as confirmed", async () => {
  const server = identityServer(stores);
  const { email } = await server.register();
  await reset(server, await resetToken(server, email));
  const cookie = cookieOf(await server.logIn(email, { password: NEW_PASSWORD }));
  const me = await server.send("GET", "/api/v1/me", { headers: withCookie(cookie) });
  expect(await me.json()).toMatchObject({ emailVerified: true, mfaEnabled: false });
  expect(await refusalOf(await server.logIn(email, { password: PASSWORD }))).toBe("401 INVALID_CREDENTIALS");
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import {
  RECOVERY_CODES,
  SECOND_FACTOR_FAILURES_PER_DAY_MAX,
  SECOND_FACTOR_FREE_FAILURES,
} from "../../src/identity/limits.ts";
import { PasswordHasher } from "../../src/identity/password-hasher.ts";
import { MfaEnrolment } from "../../src/identity/types.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import {
  bodyOf,
  Clock,
  cookieOf,
  type IdentityServer,
  identityServer,
  PASSWORD,
  type Person,
  refusalOf,
  withCookie,
} from "./identity-server.ts";

const LOGIN = "/api/v1/auth/login";
const STEP_MS = 30_000;

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

interface ProtectedPerson extends Person {
  readonly enrolment: MfaEnrolment;
}

/** What the person's app shows at a time. */
function codeAt(secret: string, atMs: number): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: atMs });
}

/** A six-digit code that none of the steps around a time has. */
function wrongCode(secret: string, atMs: number): string {
  const right = [-2, -1, 0, 1, 2].map((steps) => codeAt(secret, atMs + steps * STEP_MS));
  return (
    ["000000", "111111", "222222", "333333", "444444", "555555"].find((code) => !right.includes(code)) ?? ""
  );
}

function post(server: IdentityServer, cookie: string, path: string, json?: unknown): Promise<Response> {
  const headers = withCookie(cookie);
  return server.send("POST", path, { headers, ...(json !== undefined && { json }) });
}

async function enroll(server: IdentityServer, cookie: string): Promise<MfaEnrolment> {
  return bodyOf(await post(server, cookie, "/api/v1/auth/mfa/enroll"), MfaEnrolment);
}

const verify = (server: IdentityServer, cookie: string, code: string): Promise<Response> =>
  post(server, cookie, "/api/v1/auth/mfa/verify", { code });

const disable = (server: IdentityServer, cookie: string, json?: unknown): Promise<Response> =>
  post(server, cookie, "/api/v1/auth/mfa/disable", json);

const logIn = (server: IdentityServer, email: string, totp?: string): Promise<Response> =>
  server.send("POST", LOGIN, { json: { email, password: PASSWORD, ...(totp !== undefined && { totp }) } });

/** A person with a second factor, whose first code is one step in the past. */
async function protectedPerson(server: IdentityServer): Promise<ProtectedPerson> {
  const person = await server.register();
  const enrolment = await enroll(server, person.cookie);
  const enabled = await verify(server, person.cookie, codeAt(enrolment.secret, server.clock.now()));
  expect(await enabled.json()).toEqual({ mfaEnabled: true });
  server.clock.advance(STEP_MS);
  return { ...person, enrolment };
}

async function actionsOf(
  organizationId: number,
): Promise<{ action: string; meta: Record<string, unknown> }[]> {
  return stores.postgres<{ action: string; meta: Record<string, unknown> }[]>`
    SELECT action, meta FROM audit_log WHERE organization_id = ${organizationId} ORDER BY seq`;
}

describe("enrolling", () => {
  test("gives a secret, its otpauth address and ten recovery codes, and asks for no code yet", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    const { secret, otpauthUri, recoveryCodes } = await enroll(server, cookie);
    const uri = new URL(otpauthUri);
    expect([uri.protocol, uri.host]).toEqual(["otpauth:", "totp"]);
    expect(decodeURIComponent(uri.pathname)).toContain(email);
    expect(Object.fromEntries(uri.searchParams)).toMatchObject({
      secret,
      issuer: "obs",
      digits: "6",
      period: "30",
      algorithm: "SHA1",
    });
    expect(new Set(recoveryCodes).size).toBe(RECOVERY_CODES);
    for (const code of recoveryCodes) expect(code).toMatch(/^[2-9a-z]{5}-[2-9a-z]{5}$/);
    expect((await logIn(server, email)).status).toBe(200);
    expect((await logIn(server, email, "123456")).status).toBe(200);
  });

  test("keeps the secret encrypted and the recovery codes as hashes", async () => {
    const server = identityServer(stores, { passwords: new PasswordHasher({ concurrency: 2 }) });
    const { cookie, account } = await server.register();
    const { secret, recoveryCodes } = await enroll(server, cookie);
    const [factor] = await stores.postgres<{ secret: Uint8Array }[]>`
      SELECT secret FROM totp_factors WHERE user_id = ${account.user.id}`;
    expect(Buffer.from(factor?.secret ?? []).toString("latin1")).not.toContain(secret);
    const codes = await stores.postgres<{ code_hash: string }[]>`
      SELECT code_hash FROM recovery_codes WHERE user_id = ${account.user.id}`;
    expect(codes).toHaveLength(RECOVERY_CODES);
    for (const { code_hash } of codes) expect(code_hash).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$");
    const written = JSON.stringify([await actionsOf(account.organization.id), server.logged()]);
    for (const shown of [secret, ...recoveryCodes]) expect(written).not.toContain(shown);
  });

  test("again before it is verified begins anew: the former secret and codes are worth nothing", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    const first = await enroll(server, cookie);
    const second = await enroll(server, cookie);
    const nowMs = server.clock.now();
    expect(await refusalOf(await verify(server, cookie, codeAt(first.secret, nowMs)))).toBe(
      "401 INVALID_CREDENTIALS",
    );
    expect((await verify(server, cookie, codeAt(second.secret, nowMs))).status).toBe(200);
    const former = await logIn(server, email, first.recoveryCodes[0]);
    expect(await refusalOf(former)).toBe("401 INVALID_CREDENTIALS");
  });

  test("is refused where a factor is enabled, and slowed down where it is begun again and again", async () => {
    const server = identityServer(stores);
    const { cookie } = await protectedPerson(server);
    expect(await refusalOf(await post(server, cookie, "/api/v1/auth/mfa/enroll"))).toBe("409 CONFLICT");
    expect(await refusalOf(await verify(server, cookie, "123456"))).toBe("409 CONFLICT");
    const other = await server.register();
    let answer = await post(server, other.cookie, "/api/v1/auth/mfa/enroll");
    for (let i = 0; i < 10 && answer.status === 200; i += 1)
      answer = await post(server, other.cookie, "/api/v1/auth/mfa/enroll");
    expect(await refusalOf(answer)).toBe("429 RATE_LIMITED");
  });

  test("is for people: not for tokens, foreign pages and sessions that only an organisation vouches for", async () => {
    const server = identityServer(stores);
    const { cookie, account } = await server.register();
    const { token } = await server.mint(cookie);
    const headers = { authorization: `Bearer ${token}` };
    for (const [path, json] of [
      ["enroll", undefined],
      ["verify", { code: "123456" }],
      ["disable", {}],
    ] as const) {
      const options = { headers, ...(json !== undefined && { json }) };
      expect(await refusalOf(await server.send("POST", `/api/v1/auth/mfa/${path}`, options))).toBe(
        "403 FORBIDDEN",
      );
    }
    expect(await refusalOf(await server.send("POST", "/api/v1/auth/mfa/enroll"))).toBe("401 UNAUTHENTICATED");
    const foreign = await server.send("POST", "/api/v1/auth/mfa/enroll", {
      headers: { cookie, origin: "https://evil.example" },
    });
    expect(await refusalOf(foreign)).toBe("403 FORBIDDEN");
    await stores.postgres`UPDATE sessions SET by_sso = true WHERE user_id = ${account.user.id}`;
    expect(await refusalOf(await post(server, cookie, "/api/v1/auth/mfa/enroll"))).toBe("403 FORBIDDEN");
  });
});

describe("the first code", () => {
  test("enables the factor, ends the other sessions, keeps this one and tells the person", async () => {
    const server = identityServer(stores);
    const { email, cookie, account } = await server.register();
    const elsewhere = cookieOf(await logIn(server, email));
    const { secret } = await enroll(server, cookie);
    await verify(server, cookie, codeAt(secret, server.clock.now()));
    const me = await server.send("GET", "/api/v1/me", { headers: { cookie } });
    expect(await me.json()).toMatchObject({ mfaEnabled: true });
    const other = await server.send("GET", "/api/v1/me", { headers: { cookie: elsewhere } });
    expect(await refusalOf(other)).toBe("401 UNAUTHENTICATED");
    expect(server.outgoing.at(-1)).toMatchObject({ to: email, subject: "A second factor was turned on" });
    const rows = await actionsOf(account.organization.id);
    expect(rows.map(({ action }) => action)).toEqual(["REGISTER", "LOGIN", "ENROLL_MFA", "ENABLE_MFA"]);
    expect(rows.at(-1)?.meta).toMatchObject({ diff: { mfaEnabled: { from: false, to: true } } });
  });

  test("does not sign in as well", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    const { secret } = await enroll(server, cookie);
    const code = codeAt(secret, server.clock.now());
    await verify(server, cookie, code);
    expect(await refusalOf(await logIn(server, email, code))).toBe("401 INVALID_CREDENTIALS");
    server.clock.advance(STEP_MS);
    expect((await logIn(server, email, codeAt(secret, server.clock.now()))).status).toBe(200);
  });
});

describe("logging in with a second factor", () => {
  test("asks for a code after the right password only", async () => {
    const server = identityServer(stores);
    const { email, enrolment } = await protectedPerson(server);
    const asked = await logIn(server, email);
    expect(asked.headers.get("set-cookie")).toBeNull();
    expect(await refusalOf(asked)).toBe("401 MFA_REQUIRED");
    const code = codeAt(enrolment.secret, server.clock.now());
    const json = { email, password: "wrong password", totp: code };
    expect(await refusalOf(await server.send("POST", LOGIN, { json }))).toBe("401 INVALID_CREDENTIALS");
    // What was sent with a wrong password is not used up.
    expect((await logIn(server, email, code)).status).toBe(200);
  });

  test("costs as many hashes with a wrong password as without an account", async () => {
    const server = identityServer(stores);
    const { email } = await protectedPerson(server);
    const costOf = async (address: string): Promise<number> => {
      const before = server.hashing.verifies;
      const json = { email: address, password: "wrong password", totp: "222222" };
      expect(await refusalOf(await server.send("POST", LOGIN, { json }))).toBe("401 INVALID_CREDENTIALS");
      return server.hashing.verifies - before;
    };
    expect(await costOf(email)).toBe(1);
    expect(await costOf("nobody@example.com")).toBe(1);
  });

  test("takes the codes one step around now, and none further away", async () => {
    const server = identityServer(stores);
    const { email, enrolment } = await protectedPerson(server);
    server.clock.advance(10 * STEP_MS);
    const at = (steps: number) => codeAt(enrolment.secret, server.clock.now() + steps * STEP_MS);
    for (const steps of [-2, 2])
      expect(await refusalOf(await logIn(server, email, at(steps)))).toBe("401 INVALID_CREDENTIALS");
    for (const steps of [-1, 0, 1]) expect((await logIn(server, email, at(steps))).status).toBe(200);
  });

  test("takes a code once, and after it none that is older, here and on another instance", async () => {
    const server = identityServer(stores);
    const other = identityServer(stores, { clock: server.clock });
    const { email, enrolment } = await protectedPerson(server);
    server.clock.advance(10 * STEP_MS);
    const code = codeAt(enrolment.secret, server.clock.now());
    expect((await logIn(server, email, code)).status).toBe(200);
    for (const instance of [server, other]) {
      expect(await refusalOf(await logIn(instance, email, code))).toBe("401 INVALID_CREDENTIALS");
      const older = codeAt(enrolment.secret, server.clock.now() - STEP_MS);
      expect(await refusalOf(await logIn(instance, email, older))).toBe("401 INVALID_CREDENTIALS");
    }
  });

  test("lets one of many in who send the same code at the same moment to two instances", async () => {
    const clock = new Clock();
    const [one, two] = [identityServer(stores, { clock }), identityServer(stores, { clock })];
    const { email, enrolment } = await protectedPerson(one);
    const code = codeAt(enrolment.secret, clock.now());
    const answers = await Promise.all([one, two, one, two].map((server) => logIn(server, email, code)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401]);
  });

  test("says in the audit log which kind of code it was, and never the code", async () => {
    const server = identityServer(stores);
    const { email, enrolment, account } = await protectedPerson(server);
    const code = codeAt(enrolment.secret, server.clock.now());
    await logIn(server, email, code);
    await logIn(server, email, enrolment.recoveryCodes[3]);
    const rows = await actionsOf(account.organization.id);
    expect(
      rows.slice(-2).map(({ action, meta }) => [action, meta.secondFactor, meta.recoveryCodesLeft]),
    ).toEqual([
      ["LOGIN", "totp", undefined],
      ["LOGIN", "recovery-code", RECOVERY_CODES - 1],
    ]);
    const diffs = JSON.stringify(rows.map(({ meta }) => ({ ...meta, ip: null, ua: null })));
    for (const secret of [enrolment.recoveryCodes[3] ?? "", `"${code}"`]) expect(diffs).not.toContain(secret);
  });

  test("wrong codes are delayed, longer than wrong passwords, and only for who knows the password", async () => {
    const server = identityServer(stores);
    const { email, enrolment } = await protectedPerson(server);
    const guess = async () =>
      refusalOf(await logIn(server, email, wrongCode(enrolment.secret, server.clock.now())));
    let guesses = 0;
    while (guesses < 50 && (await guess()) === "401 INVALID_CREDENTIALS") guesses += 1;
    expect(guesses).toBe(SECOND_FACTOR_FREE_FAILURES + 1);
    // The right code waits as well, and so does a recovery code: neither is judged.
    const right = codeAt(enrolment.secret, server.clock.now());
    expect(await refusalOf(await logIn(server, email, right))).toBe("429 RATE_LIMITED");
    expect(await refusalOf(await logIn(server, email, enrolment.recoveryCodes[0]))).toBe("429 RATE_LIMITED");
  });

  test("wrong codes of a day are few, on all instances together, until the password is another one", async () => {
    const clock = new Clock();
    const instances = [identityServer(stores, { clock }), identityServer(stores, { clock })];
    const [server = identityServer(stores)] = instances;
    const { email, enrolment } = await protectedPerson(server);
    let judged = 0;
    const end = clock.now() + 11 * 3_600_000;
    while (clock.now() < end) {
      const guesses = instances.map(async (instance) =>
        refusalOf(await logIn(instance, email, wrongCode(enrolment.secret, clock.now()))),
      );
      judged += (await Promise.all(guesses)).filter((answer) => answer === "401 INVALID_CREDENTIALS").length;
      clock.advance(10 * 60_000);
    }
    expect(judged).toBe(SECOND_FACTOR_FAILURES_PER_DAY_MAX);
    const late = await logIn(server, email, codeAt(enrolment.secret, clock.now()));
    const untilMidnight = (Date.parse("2026-03-02T00:00:00Z") - clock.now()) / 1000;
    expect(Number(late.headers.get("retry-after"))).toBe(untilMidnight);
    expect(await refusalOf(late)).toBe("429 RATE_LIMITED");
    await server.send("POST", "/api/v1/auth/forgot-password", { json: { email } });
    await server.issueLinks();
    const token = server.outgoing.at(-1)?.link?.split("token=")[1] ?? "";
    await server.send("POST", "/api/v1/auth/reset-password", {
      json: { token, newPassword: "another horse, another battery" },
    });
    const json = { email, password: "another horse, another battery" };
    const totp = codeAt(enrolment.secret, clock.now());
    clock.advance(3_600_000);
    expect((await server.send("POST", LOGIN, { json: { ...json, totp } })).status).toBe(401);
    const fresh = codeAt(enrolment.secret, clock.now());
    expect((await server.send("POST", LOGIN, { json: { ...json, totp: fresh } })).status).toBe(200);
  });

  test.each(["", "12345", "123456789012"])("the code %p is not one", async (totp) => {
    const server = identityServer(stores);
    const { email } = await server.register();
    expect(await refusalOf(await logIn(server, email, totp))).toBe("400 VALIDATION_FAILED");
  });

  test("a session planted before never becomes the victim's, and one brought along ends", async () => {
    const server = identityServer(stores);
    const { email, cookie, enrolment } = await protectedPerson(server);
    const json = { email, password: PASSWORD, totp: codeAt(enrolment.secret, server.clock.now()) };
    const planted = `session=${"p".repeat(43)}`;
    const answer = await server.send("POST", LOGIN, { json, headers: withCookie(planted) });
    expect(cookieOf(answer)).not.toBe(planted);
    server.clock.advance(STEP_MS);
    const again = { ...json, totp: codeAt(enrolment.secret, server.clock.now()) };
    const second = await server.send("POST", LOGIN, { json: again, headers: withCookie(cookie) });
    expect(cookieOf(second)).not.toBe(cookie);
    const former = await server.send("GET", "/api/v1/me", { headers: { cookie } });
    expect(await refusalOf(former)).toBe("401 UNAUTHENTICATED");
  });

  test("a reset password does not replace the second factor", async () => {
    const server = identityServer(stores);
    const { email, enrolment } = await protectedPerson(server);
    await server.send("POST", "/api/v1/auth/forgot-password", { json: { email } });
    await server.issueLinks();
    const token = server.outgoing.at(-1)?.link?.split("token=")[1] ?? "";
    const newPassword = "another horse, another battery";
    await server.send("POST", "/api/v1/auth/reset-password", { json: { token, newPassword } });
    const json = { email, password: newPassword };
    expect(await refusalOf(await server.send("POST", LOGIN, { json }))).toBe("401 MFA_REQUIRED");
    const totp = codeAt(enrolment.secret, server.clock.now());
    expect((await server.send("POST", LOGIN, { json: { ...json, totp } })).status).toBe(200);
  });

  test("a login that began before the factor was enabled does not end after it", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    const { secret } = await enroll(server, cookie);
    const release = Promise.withResolvers<void>();
    const compare = server.hashing.verify.bind(server.hashing);
    server.hashing.verify = async (password, hash) => {
      const matches = await compare(password, hash);
      await release.promise;
      return matches;
    };
    const login = logIn(server, email);
    await verify(server, cookie, codeAt(secret, server.clock.now()));
    release.resolve();
    expect(await refusalOf(await login)).toBe("401 MFA_REQUIRED");
  });
});

describe("a recovery code", () => {
  test("signs in once, with or without its dash and in any case, also at the same moment", async () => {
    const server = identityServer(stores);
    const other = identityServer(stores, { clock: server.clock });
    const { email, enrolment } = await protectedPerson(server);
    const [first = "", second = "", third = ""] = enrolment.recoveryCodes;
    expect((await logIn(server, email, first)).status).toBe(200);
    expect(await refusalOf(await logIn(other, email, first))).toBe("401 INVALID_CREDENTIALS");
    expect((await logIn(other, email, second.toUpperCase().replace("-", ""))).status).toBe(200);
    const answers = await Promise.all(
      [server, other, server].map((instance) => logIn(instance, email, third)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
  });

  test("of another person opens nothing", async () => {
    const server = identityServer(stores);
    const [ana, eve] = [await protectedPerson(server), await protectedPerson(server)];
    for (const code of eve.enrolment.recoveryCodes.slice(0, 3))
      expect(await refusalOf(await logIn(server, ana.email, code))).toBe("401 INVALID_CREDENTIALS");
  });

  test("costs one hash whether it is right, wrong or was never there", async () => {
    const server = identityServer(stores);
    const { email, enrolment } = await protectedPerson(server);
    const costOf = async (code: string): Promise<number> => {
      const before = server.hashing.verifies;
      await logIn(server, email, code);
      // Less the one of the password.
      return server.hashing.verifies - before - 1;
    };
    const [right = ""] = enrolment.recoveryCodes;
    const slots = new Set(enrolment.recoveryCodes.map((code) => code[0]));
    const unused = [..."23456789abcdefgh"].find((char) => !slots.has(char)) ?? "";
    expect(await costOf(`${right[0]}2222-22222`)).toBe(1);
    expect(await costOf(`${unused}2222-22222`)).toBe(1);
    expect(await costOf(right)).toBe(1);
  });
});

describe("turning the second factor off", () => {
  const proofs: [string, (person: ProtectedPerson, nowMs: number) => Record<string, string>][] = [
    ["the password", () => ({ password: PASSWORD })],
    ["a code", ({ enrolment }, nowMs) => ({ code: codeAt(enrolment.secret, nowMs) })],
    ["a recovery code", ({ enrolment }) => ({ code: enrolment.recoveryCodes[7] ?? "" })],
    ["both", ({ enrolment }, nowMs) => ({ password: PASSWORD, code: codeAt(enrolment.secret, nowMs) })],
  ];
  test.each(proofs)("takes %s, ends the other sessions and tells the person", async (_what, proofOf) => {
    const server = identityServer(stores);
    const person = await protectedPerson(server);
    const { email, cookie, account, enrolment } = person;
    const elsewhere = cookieOf(await logIn(server, email, enrolment.recoveryCodes[0]));
    server.clock.advance(STEP_MS);
    const answer = await disable(server, cookie, proofOf(person, server.clock.now()));
    expect(await answer.json()).toEqual({ mfaEnabled: false });
    expect((await logIn(server, email)).status).toBe(200);
    expect((await server.send("GET", "/api/v1/me", { headers: { cookie } })).status).toBe(200);
    expect((await server.send("GET", "/api/v1/me", { headers: { cookie: elsewhere } })).status).toBe(401);
    expect(server.outgoing.at(-1)).toMatchObject({ to: email, subject: "The second factor was turned off" });
    const [row] = await stores.postgres<{ meta: unknown }[]>`
      SELECT meta FROM audit_log WHERE organization_id = ${account.organization.id} AND action = 'DISABLE_MFA'`;
    expect(row?.meta).toMatchObject({ diff: { mfaEnabled: { from: true, to: false } } });
    const left = await stores.postgres`SELECT 1 FROM recovery_codes WHERE user_id = ${account.user.id}`;
    expect(left).toHaveLength(0);
  });

  test("takes more than a session, and all that is given must be right", async () => {
    const server = identityServer(stores);
    const { email, cookie, enrolment } = await protectedPerson(server);
    const nowMs = server.clock.now();
    const wrong = wrongCode(enrolment.secret, nowMs);
    expect(await refusalOf(await disable(server, cookie))).toBe("400 VALIDATION_FAILED");
    expect(await refusalOf(await disable(server, cookie, {}))).toBe("400 VALIDATION_FAILED");
    for (const json of [
      { password: "wrong password" },
      { code: wrong },
      { password: PASSWORD, code: wrong },
      { password: "wrong password", code: codeAt(enrolment.secret, nowMs) },
    ])
      expect(await refusalOf(await disable(server, cookie, json))).toBe("401 INVALID_CREDENTIALS");
    expect(await refusalOf(await logIn(server, email))).toBe("401 MFA_REQUIRED");
  });

  test("guesses at it count with those at logging in", async () => {
    const server = identityServer(stores);
    const { email, cookie, enrolment } = await protectedPerson(server);
    const code = wrongCode(enrolment.secret, server.clock.now());
    for (let i = 0; i <= SECOND_FACTOR_FREE_FAILURES; i += 1) await disable(server, cookie, { code });
    expect(await refusalOf(await disable(server, cookie, { code }))).toBe("429 RATE_LIMITED");
    expect(await refusalOf(await logIn(server, email, code))).toBe("429 RATE_LIMITED");
  });

  test("is refused where there is none, and drops one that was begun without further ado", async () => {
    const server = identityServer(stores);
    const { cookie } = await server.register();
    expect(await refusalOf(await disable(server, cookie, { password: PASSWORD }))).toBe("409 CONFLICT");
    const { secret } = await enroll(server, cookie);
    expect((await disable(server, cookie)).status).toBe(200);
    expect(await refusalOf(await verify(server, cookie, codeAt(secret, server.clock.now())))).toBe(
      "409 CONFLICT",
    );
  });
});

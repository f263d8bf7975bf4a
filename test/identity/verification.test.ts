import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { VERIFICATION_LINK_LIFE_MS } from "../../src/identity/limits.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import {
  cookieOf,
  freshEmail,
  type IdentityServer,
  identityServer,
  PASSWORD,
  refusalOf,
} from "./identity-server.ts";

const REGISTER = "/api/v1/auth/register";
const RESEND = "/api/v1/auth/resend-verification";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** The paths of the links to confirm an address that it was mailed, oldest first. */
function verificationPaths(server: IdentityServer, email: string): string[] {
  return server.outgoing
    .filter((mail) => mail.to === email && mail.subject === "Confirm your email address")
    .map((mail) => (mail.link ?? "").replace("http://localhost:8080", ""));
}

async function meOf(server: IdentityServer, cookie: string): Promise<unknown> {
  return (await server.send("GET", "/api/v1/me", { headers: { cookie } })).json();
}

describe("confirming an address", () => {
  test("takes the link that registering mails, and shows in the account and in the audit log", async () => {
    const server = identityServer(stores);
    const { email, cookie, account } = await server.register();
    expect(await meOf(server, cookie)).toMatchObject({ emailVerified: false });
    const [path = ""] = verificationPaths(server, email);
    expect(path).toMatch(/^\/api\/v1\/auth\/verify-email\?token=[A-Za-z0-9_-]{43}$/);
    const answer = await server.send("GET", path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(await meOf(server, cookie)).toMatchObject({ emailVerified: true });
    const rows = await stores.postgres`
      SELECT action, resource, meta->'diff' AS diff FROM audit_log
      WHERE organization_id = ${account.organization.id} AND action = 'VERIFY_EMAIL'`;
    expect([...rows]).toEqual([
      {
        action: "VERIFY_EMAIL",
        resource: `user:${account.user.id}`,
        diff: { emailVerified: { from: false, to: true } },
      },
    ]);
  });

  test("works again with the same link, which a mail program may have opened first, and is audited once", async () => {
    const server = identityServer(stores);
    const { email, account } = await server.register();
    const [path = ""] = verificationPaths(server, email);
    const answers = await Promise.all([1, 2, 3].map(() => server.send("GET", path)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const rows = await stores.postgres`
      SELECT 1 FROM audit_log
      WHERE organization_id = ${account.organization.id} AND action = 'VERIFY_EMAIL'`;
    expect(rows).toHaveLength(1);
  });

  test("does not work with a link that is over, unknown or malformed", async () => {
    const server = identityServer(stores);
    const { email, cookie } = await server.register();
    const [path = ""] = verificationPaths(server, email);
    server.clock.advance(VERIFICATION_LINK_LIFE_MS);
    expect(await refusalOf(await server.send("GET", path))).toBe("400 LINK_INVALID");
    const verify = (token: string) => server.send("GET", `/api/v1/auth/verify-email?token=${token}`);
    expect(await refusalOf(await verify("x".repeat(43)))).toBe("400 LINK_INVALID");
    expect(await refusalOf(await verify("short"))).toBe("400 VALIDATION_FAILED");
    expect(await refusalOf(await server.send("GET", "/api/v1/auth/verify-email"))).toBe(
      "400 VALIDATION_FAILED",
    );
    expect(await meOf(server, cookie)).toMatchObject({ emailVerified: false });
  });

  test("can be asked for again, with the same answer for every address", async () => {
    const server = identityServer(stores);
    const { email } = await server.register();
    const confirmed = await server.register();
    await server.send("GET", verificationPaths(server, confirmed.email)[0] ?? "");
    const bodies: unknown[] = [];
    for (const address of [email, confirmed.email, freshEmail()]) {
      const answer = await server.send("POST", RESEND, { json: { email: address } });
      bodies.push([answer.status, await answer.json()]);
    }
    await server.issueLinks();
    expect(bodies[1]).toEqual(bodies[0]);
    expect(bodies[2]).toEqual(bodies[0]);
    // One came with registering; who has confirmed gets no second one, a stranger none.
    expect(verificationPaths(server, email)).toHaveLength(2);
    expect(verificationPaths(server, confirmed.email)).toHaveLength(1);
    expect(server.outgoing).toHaveLength(3);
    const [first = "", second = ""] = verificationPaths(server, email);
    expect((await server.send("GET", second)).status).toBe(200);
    expect((await server.send("GET", first)).status).toBe(200);
  });

  test("is not made of what a request calls the server", async () => {
    const server = identityServer(stores);
    const json = { email: freshEmail(), password: PASSWORD };
    const headers = { host: "evil.example", "x-forwarded-host": "evil.example" };
    await server.send("POST", REGISTER, { json, headers });
    expect(JSON.stringify(server.outgoing)).not.toContain("evil.example");
    expect(verificationPaths(server, json.email)).toHaveLength(1);
  });
});

describe("where confirming is required", () => {
  test("registering does not sign in, and logging in is refused until the address is confirmed", async () => {
    const server = identityServer(stores, { requireVerifiedEmail: true });
    const json = { email: freshEmail(), password: PASSWORD };
    const registered = await server.send("POST", REGISTER, { json });
    expect(registered.status).toBe(201);
    expect(registered.headers.get("set-cookie")).toBeNull();
    const refused = await server.logIn(json.email);
    expect(refused.headers.get("set-cookie")).toBeNull();
    expect(await refusalOf(refused)).toBe("403 EMAIL_NOT_VERIFIED");
    await server.send("GET", verificationPaths(server, json.email)[0] ?? "");
    expect(cookieOf(await server.logIn(json.email))).toStartWith("session=");
  });

  test("only who knows the password learns that the address is not confirmed", async () => {
    const server = identityServer(stores, { requireVerifiedEmail: true });
    const json = { email: freshEmail(), password: PASSWORD };
    await server.send("POST", REGISTER, { json });
    const wrong = await server.logIn(json.email, { password: "wrong password" });
    expect(await refusalOf(wrong)).toBe("401 INVALID_CREDENTIALS");
    expect(await refusalOf(await server.logIn(freshEmail()))).toBe("401 INVALID_CREDENTIALS");
  });

  test("registering is audited all the same", async () => {
    const server = identityServer(stores, { requireVerifiedEmail: true });
    const email = freshEmail();
    await server.send("POST", REGISTER, { json: { email, password: PASSWORD } });
    const rows = await stores.postgres<{ action: string }[]>`
      SELECT action FROM audit_log WHERE actor_email = ${email}`;
    expect(rows.map(({ action }) => action)).toEqual(["REGISTER"]);
  });
});

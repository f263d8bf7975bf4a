import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { AUTHORIZATION_LIFE_MS, AUTHORIZATION_REQUESTS_MAX } from "../../../src/identity/providers/limits.ts";
import { Me } from "../../../src/identity/types.ts";
import { TEST_ORIGIN } from "../../harness/http-app.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { bodyOf, freshEmail, type IdentityServer, refusalOf } from "../identity-server.ts";
import { auditedIn } from "./audit-rows.ts";
import { Browser } from "./browser.ts";
import { type OpenIdPeer, startOpenIdPeer } from "./openid-peer.ts";
import { CALLBACK_OF_A, configured, providerServer } from "./provider-server.ts";

const START = "/api/v1/auth/idp-a/start";

let stores: TestStores;
let peer: OpenIdPeer;
let server: IdentityServer;
beforeAll(async () => {
  stores = await openTestStores();
  peer = await startOpenIdPeer({ redirectUris: [CALLBACK_OF_A] });
  server = providerServer(stores, { providers: [configured("idp-a", peer)] });
});
afterAll(async () => {
  await peer.stop();
  await stores.close();
});

const whoIs = async (browser: Browser): Promise<Me> =>
  bodyOf(await server.send("GET", "/api/v1/me", { headers: { cookie: browser.cookie } }), Me);

const verifyEmail = (email: string): Promise<unknown> =>
  stores.postgres`UPDATE users SET email_verified_at = now() WHERE email = ${email}`.execute();

const accountsOf = async (email: string): Promise<number> =>
  (await stores.postgres`SELECT 1 FROM users WHERE email = ${email}`).length;

/** Makes the peer sign in somebody nobody has seen before. */
function somebodyNew(claims: { email?: string; email_verified?: boolean } = {}): {
  sub: string;
  email: string;
} {
  const { email = freshEmail(), email_verified = true } = claims;
  const person = { sub: crypto.randomUUID(), email, email_verified };
  peer.person = person;
  return person;
}

describe("signing in through a provider", () => {
  test("makes an account with an organisation of its own for a new person, and writes it down", async () => {
    const { email } = somebodyNew();
    const browser = new Browser(server);
    const { url } = await browser.visit(`${START}?returnTo=/logs?q=timeout`);
    expect(url.href).toBe(`${TEST_ORIGIN}/logs?q=timeout`);
    const me = await whoIs(browser);
    expect([me.user.email, me.role]).toEqual([email, "owner"]);
    expect(await auditedIn(stores, me.organization.id)).toEqual([
      "LINK_IDENTITY identity:idp-a",
      "REGISTER session",
    ]);
    const [row] =
      await stores.postgres`SELECT password_hash, email_verified_at FROM users WHERE email = ${email}`;
    expect(row).toEqual({ password_hash: null, email_verified_at: expect.any(Date) });
  });

  test("finds a person again by issuer and subject, whatever their email is by now", async () => {
    const { sub } = somebodyNew();
    const first = new Browser(server);
    await first.visit(START);
    const before = await whoIs(first);
    peer.person = { sub, email: freshEmail(), email_verified: false };
    const again = new Browser(server);
    await again.visit(START);
    expect((await whoIs(again)).user).toEqual(before.user);
    expect((await auditedIn(stores, before.organization.id)).at(-1)).toBe("LOGIN session");
  });

  test("makes one account when somebody new comes back in several tabs at the same moment", async () => {
    const { email } = somebodyNew();
    const browsers = Array.from({ length: 4 }, () => new Browser(server));
    const callbacks: URL[] = [];
    for (const browser of browsers) callbacks.push(await browser.visitUntilCallback(START));
    await Promise.all(browsers.map((browser, tab) => browser.visit(callbacks[tab]?.href ?? "")));
    const people = await Promise.all(browsers.map(whoIs));
    expect(new Set(people.map(({ user }) => user.id)).size).toBe(1);
    expect(await accountsOf(email)).toBe(1);
  });

  test("sends the browser away with PKCE, state, nonce and the redirect address of PUBLIC_URL alone", async () => {
    const response = await server.send("GET", START, { headers: { "x-forwarded-host": "evil.example" } });
    expect(response.status).toBe(302);
    const location = new URL(response.headers.get("location") ?? "");
    expect(location.origin).toBe(peer.issuer);
    expect(Object.fromEntries(location.searchParams)).toEqual({
      client_id: peer.clientId,
      response_type: "code",
      scope: "openid email profile",
      redirect_uri: CALLBACK_OF_A,
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  test("binds the browser by a cookie scripts cannot read, and keeps neither state nor cookie in the clear", async () => {
    const response = await server.send("GET", START);
    const [pair = "", ...attributes] = (response.headers.get("set-cookie") ?? "").split("; ");
    expect(pair).toMatch(/^sign_in_[\w-]{12}=[\w-]{43}$/);
    expect(attributes).toEqual([
      "Path=/",
      "HttpOnly",
      "SameSite=Lax",
      `Max-Age=${AUTHORIZATION_LIFE_MS / 1000}`,
    ]);
    const state = new URL(response.headers.get("location") ?? "").searchParams.get("state") ?? "";
    const stored = JSON.stringify(await stores.postgres`SELECT t::text FROM authorization_requests t`);
    for (const secret of [state, pair.split("=")[1] ?? ""]) {
      expect(stored).not.toContain(secret);
      expect(stored).not.toContain(Buffer.from(secret).toString("hex"));
    }
  });

  test("leaves at most so many sign-ins under way, the latest", async () => {
    const { postgres: sql } = stores;
    await sql`
      INSERT INTO authorization_requests (state_hash, browser_hash, sealed, expires_at)
      SELECT sha256(n::text::bytea), sha256(''), '', ${new Date(server.clock.now() + 60_000)}::timestamptz
      FROM generate_series(1, ${AUTHORIZATION_REQUESTS_MAX + 10}) n`;
    somebodyNew();
    const browser = new Browser(server);
    const callback = await browser.visitUntilCallback(START);
    const left = await sql`SELECT 1 FROM authorization_requests`;
    expect(left.length).toBeLessThanOrEqual(AUTHORIZATION_REQUESTS_MAX);
    await browser.visit(callback.href);
    expect(browser.session).toBeDefined();
    await sql`DELETE FROM authorization_requests`;
  });

  test("over https the cookie is secure and nobody under the same domain can plant it", async () => {
    const secure = providerServer(stores, { providers: [configured("idp-a", peer)], secure: true });
    const cookie = (await secure.send("GET", START)).headers.get("set-cookie");
    expect(cookie).toMatch(/^__Host-sign_in_[\w-]{12}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; .*Secure$/);
  });

  test("ends the session the browser had before", async () => {
    const before = await server.register();
    const browser = new Browser(server);
    browser.accept(before.cookie);
    somebodyNew();
    await browser.visit(START);
    const me = await server.send("GET", "/api/v1/me", { headers: { cookie: before.cookie } });
    expect(await refusalOf(me)).toBe("401 UNAUTHENTICATED");
  });

  test("two tabs of one browser do not disturb each other", async () => {
    somebodyNew();
    const browser = new Browser(server);
    const first = await browser.visitUntilCallback(START);
    const second = await browser.visitUntilCallback(START);
    expect((await browser.visit(first.href)).response.status).toBe(302);
    expect((await browser.visit(second.href)).response.status).toBe(302);
    expect(browser.cookie).not.toContain("sign_in_");
  });

  test("begun at one instance of the server ends at another", async () => {
    somebodyNew();
    const browser = new Browser(server);
    const callback = await browser.visitUntilCallback(START);
    const other = providerServer(stores, { providers: [configured("idp-a", peer)] });
    const headers = { cookie: browser.cookie };
    const answer = await other.send("GET", `${callback.pathname}${callback.search}`, { headers });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, `${TEST_ORIGIN}/`]);
  });

  test("parameters a provider adds do not matter", async () => {
    somebodyNew();
    const browser = new Browser(server);
    const callback = await browser.visitUntilCallback(START);
    callback.search += "&session_state=x&hd=example.com&authuser=0&authuser=1";
    expect((await browser.visit(callback.href)).url.pathname).toBe("/");
  });

  test("a person who cancels at the provider hears that, and is not signed in", async () => {
    peer.person = null;
    const browser = new Browser(server);
    const { response } = await browser.visit(START);
    expect(await refusalOf(response)).toBe("403 PROVIDER_REFUSED");
    expect(browser.session).toBeUndefined();
  });

  test("a provider that is not configured is not there", async () => {
    for (const path of ["/api/v1/auth/idp-b/start", "/api/v1/auth/idp-b/callback?state=x&code=y"])
      expect(await refusalOf(await server.send("GET", path))).toBe("404 NOT_FOUND");
    const offered = await server.send("GET", "/api/v1/auth/providers");
    expect(await offered.json()).toEqual([
      { id: "idp-a", name: "The idp-a", startUrl: `${TEST_ORIGIN}/api/v1/auth/idp-a/start` },
    ]);
  });
});

describe("an email address", () => {
  test("links an account when both sides have verified it", async () => {
    const { email, account } = await server.register();
    await verifyEmail(email);
    somebodyNew({ email: email.toUpperCase() });
    const browser = new Browser(server);
    await browser.visit(START);
    expect((await whoIs(browser)).user.id).toBe(account.user.id);
    expect((await auditedIn(stores, account.organization.id)).slice(1)).toEqual([
      "LINK_IDENTITY identity:idp-a",
      "LOGIN session",
    ]);
  });

  test("takes nobody's account over when the provider has not verified it", async () => {
    const { email } = await server.register();
    await verifyEmail(email);
    for (const claims of [{ email_verified: false }, {}]) {
      peer.person = { sub: crypto.randomUUID(), email, ...claims };
      const browser = new Browser(server);
      const { response } = await browser.visit(START);
      expect(await refusalOf(response)).toBe("403 IDENTITY_NOT_LINKED");
      expect(browser.session).toBeUndefined();
    }
  });

  test("shares no account with whoever registered it here without being able to read its mail", async () => {
    const { email } = await server.register();
    somebodyNew({ email });
    const browser = new Browser(server);
    const { response } = await browser.visit(START);
    expect(await refusalOf(response)).toBe("403 IDENTITY_NOT_LINKED");
    expect(browser.session).toBeUndefined();
  });

  test("makes no account when the provider has not verified it, or gives none an account can have", async () => {
    const email = freshEmail();
    for (const claims of [
      { email, email_verified: false },
      { email },
      {},
      { email: "nobody", email_verified: true },
    ]) {
      peer.person = { sub: crypto.randomUUID(), ...claims };
      const { response } = await new Browser(server).visit(START);
      expect(await refusalOf(response)).toBe("403 EMAIL_NOT_VERIFIED");
    }
    expect(await accountsOf(email)).toBe(0);
  });

  test("recycled at the provider does not open the account of its former holder", async () => {
    const { email } = somebodyNew();
    await new Browser(server).visit(START);
    somebodyNew({ email });
    const { response } = await new Browser(server).visit(START);
    expect(await refusalOf(response)).toBe("403 IDENTITY_NOT_LINKED");
  });
});

describe("a provider that is down", () => {
  test("is a 503 that says when to come back, and nothing else breaks", async () => {
    const lame = await startOpenIdPeer({ redirectUris: [CALLBACK_OF_A] });
    const instance = providerServer(stores, { providers: [configured("idp-a", lame)] });
    lame.failsWith = 500;
    const refused = await instance.send("GET", START);
    expect(refused.headers.get("retry-after")).toBe("10");
    expect(await refusalOf(refused)).toBe("503 PROVIDER_UNAVAILABLE");
    lame.failsWith = null;
    lame.person = { sub: crypto.randomUUID(), email: freshEmail(), email_verified: true };
    const browser = new Browser(instance);
    const callback = await browser.visitUntilCallback(START);
    await lame.stop();
    expect(await refusalOf((await browser.visit(callback.href)).response)).toBe("503 PROVIDER_UNAVAILABLE");
    expect((await instance.register()).cookie).toStartWith("session=");
  });

  test("is asked for its discovery document and keys once, not at every sign-in", async () => {
    const counted = await startOpenIdPeer({ redirectUris: [CALLBACK_OF_A] });
    const instance = providerServer(stores, { providers: [configured("idp-a", counted)] });
    counted.person = { sub: crypto.randomUUID(), email: freshEmail(), email_verified: true };
    for (let signIn = 0; signIn < 3; signIn += 1) await new Browser(instance).visit(START);
    const asked = (path: string): number => counted.asked.filter((url) => url.startsWith(path)).length;
    expect([asked("/.well-known/"), asked("/jwks"), asked("/token")]).toEqual([1, 1, 3]);
    await counted.stop();
  });
});

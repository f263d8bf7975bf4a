import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { freshEmail, type IdentityServer, type Person, refusalOf, withCookie } from "../identity-server.ts";
import { auditedIn } from "./audit-rows.ts";
import { Browser } from "./browser.ts";
import { type OpenIdPeer, startOpenIdPeer } from "./openid-peer.ts";
import { CALLBACK_OF_A, CALLBACK_OF_B, configured, providerServer } from "./provider-server.ts";

const LINK_A = "/api/v1/me/oauth/idp-a/start?returnTo=/account";
const LINK_B = "/api/v1/me/oauth/idp-b/start";
const SIGN_IN_A = "/api/v1/auth/idp-a/start";

let stores: TestStores;
let peerA: OpenIdPeer;
let peerB: OpenIdPeer;
let server: IdentityServer;
beforeAll(async () => {
  stores = await openTestStores();
  peerA = await startOpenIdPeer({ redirectUris: [CALLBACK_OF_A] });
  peerB = await startOpenIdPeer({ redirectUris: [CALLBACK_OF_B] });
  server = providerServer(stores, { providers: [configured("idp-a", peerA), configured("idp-b", peerB)] });
});
afterAll(async () => {
  await Promise.all([peerA.stop(), peerB.stop()]);
  await stores.close();
});
beforeEach(() => {
  peerA.person = { sub: crypto.randomUUID(), email: freshEmail(), email_verified: true };
  peerB.person = { sub: crypto.randomUUID(), email: freshEmail(), email_verified: true };
});

const browserOf = ({ cookie }: Pick<Person, "cookie">): Browser => {
  const browser = new Browser(server);
  browser.accept(cookie);
  return browser;
};

const linksOf = async (browser: Browser): Promise<unknown> =>
  (await server.send("GET", "/api/v1/me/oauth", { headers: { cookie: browser.cookie } })).json();

const unlink = (cookie: string, id: string): Promise<Response> =>
  server.send("DELETE", `/api/v1/me/oauth/${id}`, { headers: withCookie(cookie) });

describe("linking", () => {
  test("lets the person sign in through the provider from then on, whatever its email is", async () => {
    const person = await server.register();
    const browser = browserOf(person);
    const { url } = await browser.visit(LINK_A);
    expect(url.pathname).toBe("/account");
    expect(browser.session).toBe(person.cookie);
    expect(await linksOf(browser)).toEqual([
      {
        provider: "idp-a",
        name: "The idp-a",
        email: peerA.person?.email,
        linkedAt: expect.any(String),
        lastUsedAt: null,
      },
    ]);
    const elsewhere = new Browser(server);
    await elsewhere.visit(SIGN_IN_A);
    const me = await server.send("GET", "/api/v1/me", { headers: { cookie: elsewhere.cookie } });
    expect(await me.json()).toMatchObject({ user: { id: person.account.user.id } });
    expect((await auditedIn(stores, person.account.organization.id)).slice(1)).toEqual([
      "LINK_IDENTITY identity:idp-a",
      "LOGIN session",
    ]);
  });

  test("again changes nothing, and another identity of the provider is refused", async () => {
    const browser = browserOf(await server.register());
    await browser.visit(LINK_A);
    const links = await linksOf(browser);
    expect((await browser.visit(LINK_A)).url.pathname).toBe("/account");
    expect(links).toMatchObject([{ lastUsedAt: null }]);
    peerA.person = { sub: crypto.randomUUID() };
    const other = browserOf({ cookie: browser.session ?? "" });
    expect(await refusalOf((await other.visit(LINK_A)).response)).toBe("409 CONFLICT");
  });

  test("of an identity that is somebody else's is refused", async () => {
    await browserOf(await server.register()).visit(LINK_A);
    const second = browserOf(await server.register());
    expect(await refusalOf((await second.visit(LINK_A)).response)).toBe("409 CONFLICT");
    expect(await linksOf(second)).toEqual([]);
  });

  test("takes a session, not a token", async () => {
    const { cookie } = await server.register();
    const { token } = await server.mint(cookie);
    const headers = { authorization: `Bearer ${token}` };
    expect(await refusalOf(await server.send("GET", LINK_A, { headers }))).toBe("403 FORBIDDEN");
    expect(await refusalOf(await server.send("GET", LINK_A))).toBe("401 UNAUTHENTICATED");
    await browserOf({ cookie }).visit(LINK_A);
    const unlinked = await server.send("DELETE", "/api/v1/me/oauth/idp-a", { headers });
    expect(await refusalOf(unlinked)).toBe("403 FORBIDDEN");
  });

  test("is not begun by the page of another site", async () => {
    const { cookie } = await server.register();
    for (const site of ["cross-site", "same-site"]) {
      const headers = { cookie, "sec-fetch-site": site };
      expect(await refusalOf(await server.send("GET", LINK_A, { headers }))).toBe("403 FORBIDDEN");
    }
    const headers = { cookie, "sec-fetch-site": "same-origin" };
    expect((await server.send("GET", LINK_A, { headers })).status).toBe(302);
  });

  test("ends when the session that began it has ended or is another person's by now", async () => {
    const person = await server.register();
    const browser = browserOf(person);
    const callback = await browser.visitUntilCallback(LINK_A);
    const other = await server.register();
    browser.accept(other.cookie);
    expect(await refusalOf((await browser.visit(callback.href)).response)).toBe("400 SIGN_IN_EXPIRED");
    expect(await linksOf(browser)).toEqual([]);
    expect(await linksOf(browserOf(person))).toEqual([]);

    const again = browserOf(person);
    const second = await again.visitUntilCallback(LINK_A);
    await server.send("POST", "/api/v1/auth/logout", { headers: withCookie(person.cookie) });
    expect(await refusalOf((await again.visit(second.href)).response)).toBe("401 UNAUTHENTICATED");
  });
});

describe("unlinking", () => {
  test("ends the way in, and is written down", async () => {
    const person = await server.register();
    const browser = browserOf(person);
    await browser.visit(LINK_A);
    expect((await unlink(person.cookie, "idp-a")).status).toBe(204);
    expect(await linksOf(browser)).toEqual([]);
    expect(await refusalOf(await unlink(person.cookie, "idp-a"))).toBe("404 NOT_FOUND");
    expect((await auditedIn(stores, person.account.organization.id)).at(-1)).toBe(
      "UNLINK_IDENTITY identity:idp-a",
    );
  });

  test("is refused for the last way in, also when two are given up at the same moment", async () => {
    const browser = new Browser(server);
    await browser.visit(SIGN_IN_A);
    const session = browser.session ?? "";
    expect(await refusalOf(await unlink(session, "idp-a"))).toBe("409 CONFLICT");
    await browser.visit(LINK_B);
    const answers = await Promise.all([unlink(session, "idp-a"), unlink(session, "idp-b")]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 409]);
    expect(await linksOf(browser)).toHaveLength(1);
  });
});

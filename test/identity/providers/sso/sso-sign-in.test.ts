import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Me } from "../../../../src/identity/types.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { bodyOf, freshEmail, type IdentityServer, refusalOf, withCookie } from "../../identity-server.ts";
import { auditedIn } from "../audit-rows.ts";
import { Browser } from "../browser.ts";
import { type NameServer, startNameServer } from "../name-server.ts";
import { type OpenIdPeer, type PeerPerson, startOpenIdPeer } from "../openid-peer.ts";
import { CALLBACK_OF_A, CALLBACK_OF_SSO, configured, providerServer } from "../provider-server.ts";
import { freshDomain, memberOf, type SsoOrganization, ssoOrganization } from "./sso-organization.ts";

let stores: TestStores;
let peer: OpenIdPeer;
let otherPeer: OpenIdPeer;
let nameServer: NameServer;
let server: IdentityServer;
beforeAll(async () => {
  stores = await openTestStores();
  peer = await startOpenIdPeer({ redirectUris: [CALLBACK_OF_SSO, CALLBACK_OF_A] });
  otherPeer = await startOpenIdPeer({ redirectUris: [CALLBACK_OF_SSO], claimsInIdToken: true });
  nameServer = await startNameServer();
  server = providerServer(stores, {
    allow: ["127.0.0.1"],
    nameServer,
    providers: [configured("idp-a", peer)],
  });
});
afterAll(async () => {
  await Promise.all([peer.stop(), otherPeer.stop(), nameServer.stop()]);
  await stores.close();
});

let organization: SsoOrganization;
beforeEach(async () => {
  organization = await ssoOrganization(server, peer, nameServer);
});

/** Makes the peer sign in somebody with a mailbox of the organisation's domain. */
function employee(claims: Partial<PeerPerson> = {}): PeerPerson & { readonly email: string } {
  const email = `${crypto.randomUUID()}@${organization.domain}`;
  const person = { sub: crypto.randomUUID(), email, email_verified: true, ...claims };
  peer.person = person;
  return person;
}

const whoIs = async (browser: Browser): Promise<Me> =>
  bodyOf(await server.send("GET", "/api/v1/me", { headers: { cookie: browser.cookie } }), Me);

async function signIn(start = organization.start): Promise<Browser> {
  const browser = new Browser(server);
  const { url, response } = await browser.visit(start);
  if (url.pathname !== "/") throw new Error(`${response.status} ${await response.text()}`);
  return browser;
}

async function refusalAtSignIn(start = organization.start): Promise<string> {
  const browser = new Browser(server);
  const { response } = await browser.visit(start);
  expect(browser.session).toBeUndefined();
  return refusalOf(response);
}

const roleOf = async (userId: number): Promise<string | undefined> => {
  const [row] = await stores.postgres<{ role: string }[]>`
    SELECT role FROM memberships WHERE organization_id = ${organization.id} AND user_id = ${userId}`;
  return row?.role;
};

describe("somebody the provider signs in for the first time", () => {
  test("becomes a member by an address of a verified domain, and nothing else besides", async () => {
    const { email } = employee();
    const me = await whoIs(await signIn());
    expect([me.user.email, me.organization.id, me.role]).toEqual([email, organization.id, "viewer"]);
    const own = await stores.postgres`SELECT 1 FROM memberships WHERE user_id = ${me.user.id}`;
    expect(own).toHaveLength(1);
    expect((await auditedIn(stores, organization.id)).slice(-3)).toEqual([
      "ADD_MEMBER member",
      "LINK_IDENTITY identity:sso",
      "SSO_LOGIN session",
    ]);
    expect((await whoIs(await signIn())).user.id).toBe(me.user.id);
    expect((await auditedIn(stores, organization.id)).slice(-2)).toEqual([
      "SSO_LOGIN session",
      "SSO_LOGIN session",
    ]);
  });

  test("is not admitted by an address of another domain, of one that is not verified, or by none", async () => {
    const unverified = freshDomain();
    await organization.configure({ domains: [organization.domain, unverified] });
    const addresses = [
      freshEmail(),
      `ana@${unverified}`,
      `ana@sub.${organization.domain}`,
      `ana@${organization.domain}.evil.example`,
      `ana@evil-${organization.domain}`,
    ];
    for (const email of addresses) {
      employee({ email });
      expect(await refusalAtSignIn()).toBe("403 SSO_NOT_ADMITTED");
    }
    peer.person = { sub: crypto.randomUUID() };
    expect(await refusalAtSignIn()).toBe("403 SSO_NOT_ADMITTED");
  });

  test("is not admitted by an address that the provider says it has not verified", async () => {
    employee({ email_verified: false });
    expect(await refusalAtSignIn()).toBe("403 EMAIL_NOT_VERIFIED");
    const { sub, email } = employee();
    peer.person = { sub, email };
    expect((await whoIs(await signIn())).user.email).toBe(email);
  });

  test("keeps the account they have, if it has verified the address too", async () => {
    const { email } = employee();
    const member = await memberOf(stores, server, organization.id, "member", { email });
    expect((await whoIs(await signIn())).user.id).toBe(member.userId);
    expect(await roleOf(member.userId)).toBe("member");
  });

  test("does not get the account of whoever registered the address, of an owner, or behind a second factor", async () => {
    const { email } = employee();
    await memberOf(stores, server, organization.id, "member", { email, emailIsVerified: false });
    expect(await refusalAtSignIn()).toBe("403 IDENTITY_NOT_LINKED");

    const { email: ofOwner } = employee();
    await memberOf(stores, server, organization.id, "owner", { email: ofOwner });
    expect(await refusalAtSignIn()).toBe("403 IDENTITY_NOT_LINKED");

    const { email: guarded } = employee();
    const { userId } = await memberOf(stores, server, organization.id, "member", { email: guarded });
    await stores.postgres`
      INSERT INTO totp_factors (user_id, secret, created_at, enabled_at)
      VALUES (${userId}, ${Buffer.alloc(32)}, now(), now())`;
    expect(await refusalAtSignIn()).toBe("403 IDENTITY_NOT_LINKED");
  });

  test("is one person and one member, also in several tabs at the same moment", async () => {
    const { email } = employee();
    const browsers = Array.from({ length: 4 }, () => new Browser(server));
    const callbacks: URL[] = [];
    for (const browser of browsers) callbacks.push(await browser.visitUntilCallback(organization.start));
    await Promise.all(browsers.map((browser, tab) => browser.visit(callbacks[tab]?.href ?? "")));
    const people = await Promise.all(browsers.map(whoIs));
    expect(new Set(people.map(({ user }) => user.email))).toEqual(new Set([email]));
    const added = (await auditedIn(stores, organization.id)).filter((row) => row.startsWith("ADD_MEMBER"));
    expect(added).toHaveLength(1);
  });

  test("is somebody new again after they have been removed", async () => {
    employee();
    const { user } = await whoIs(await signIn());
    await stores.postgres`DELETE FROM memberships WHERE user_id = ${user.id}`;
    expect(await stores.postgres`SELECT 1 FROM sso_identities WHERE user_id = ${user.id}`).toHaveLength(0);
    expect((await whoIs(await signIn())).user.id).toBe(user.id);
    await organization.configure({ domains: [] });
    await stores.postgres`DELETE FROM memberships WHERE user_id = ${user.id}`;
    expect(await refusalAtSignIn()).toBe("403 SSO_NOT_ADMITTED");
  });

  test("with an address that was another's does not get their account", async () => {
    const { email } = employee();
    await signIn();
    employee({ email });
    expect(await refusalAtSignIn()).toBe("403 IDENTITY_NOT_LINKED");
  });
});

describe("groups", () => {
  const groupRoles = { staff: "member", ops: "admin" };

  test("give the highest role of those one is in, from the ID token or the userinfo endpoint", async () => {
    await organization.configure({ groupRoles });
    const { sub, email } = employee({ groups: ["unknown", "ops", "staff"] });
    const me = await whoIs(await signIn());
    expect(me.role).toBe("admin");
    peer.person = { sub, email, groups: ["staff", "constructor", "__proto__"] };
    expect((await whoIs(await signIn())).role).toBe("member");
    await organization.configure({ groupRoles, issuer: otherPeer.issuer });
    otherPeer.person = { sub, email, email_verified: true, groups: ["ops"] };
    expect((await whoIs(await signIn())).role).toBe("admin");
  });

  test("change the role at the next sign-in, down as well as up, and it is written down", async () => {
    await organization.configure({ groupRoles });
    const { sub, email } = employee({ groups: ["ops"] });
    const browser = await signIn();
    const { user } = await whoIs(browser);
    const seen: (string | undefined)[] = [];
    for (const groups of [["staff"], [], ["ops"], undefined]) {
      peer.person = { sub, email, ...(groups !== undefined && { groups }) };
      await signIn();
      seen.push(await roleOf(user.id));
    }
    expect(seen).toEqual(["member", "viewer", "admin", "viewer"]);
    expect((await auditedIn(stores, organization.id)).slice(-2)).toEqual([
      "UPDATE_MEMBER member",
      "SSO_LOGIN session",
    ]);
    server.clock.advance(2_000);
    expect((await whoIs(browser)).role).toBe("viewer");
  });

  test("take the invites along that a demoted member has sent", async () => {
    await organization.configure({ groupRoles });
    const { sub, email } = employee({ groups: ["ops"] });
    const { user } = await whoIs(await signIn());
    await stores.postgres`
      INSERT INTO invites (organization_id, email, role, token_hash, invited_by, created_at, expires_at)
      VALUES (${organization.id}, ${freshEmail()}, 'admin', ${Buffer.alloc(32, 1)}, ${user.id}, now(), now())`;
    peer.person = { sub, email, groups: ["staff"] };
    await signIn();
    expect(
      await stores.postgres`SELECT 1 FROM invites WHERE organization_id = ${organization.id}`,
    ).toHaveLength(0);
  });

  test("demote an owner, but never the only one", async () => {
    const { userId, cookie } = await memberOf(stores, server, organization.id, "owner");
    await organization.configure({ groupRoles });
    employee({ groups: ["staff"] });
    const browser = new Browser(server);
    browser.accept(cookie);
    await browser.visit("/api/v1/me/oauth/sso/start");
    await signIn();
    expect(await roleOf(userId)).toBe("member");

    const sole = new Browser(server);
    sole.accept(organization.owner.cookie);
    employee({ groups: ["staff"] });
    await sole.visit("/api/v1/me/oauth/sso/start");
    expect((await whoIs(await signIn())).role).toBe("owner");
  });

  test("that are not mapped leave the roles of members alone", async () => {
    const { email } = employee({ groups: ["ops"] });
    const { userId } = await memberOf(stores, server, organization.id, "admin", { email });
    await signIn();
    expect(await roleOf(userId)).toBe("admin");
  });
});

describe("two organisations with one issuer", () => {
  test("know the same person apart, each as its own member", async () => {
    const second = await ssoOrganization(server, peer, nameServer);
    const { email } = employee();
    const first = await whoIs(await signIn());
    expect(await refusalAtSignIn(second.start)).toBe("403 SSO_NOT_ADMITTED");
    const { postgres } = stores;
    await postgres`UPDATE sso_domains SET domain = ${organization.domain} WHERE organization_id = ${second.id}`;
    const other = await whoIs(await signIn(second.start));
    expect([other.user.id, other.user.email]).toEqual([first.user.id, email]);
    expect([first.organization.id, other.organization.id]).toEqual([organization.id, second.id]);
  });

  test("do not take each other's sign-ins", async () => {
    const second = await ssoOrganization(server, peer, nameServer);
    employee();
    const browser = new Browser(server);
    const callback = await browser.visitUntilCallback(organization.start);
    const foreign = await browser.visitUntilCallback(second.start);
    // The code of one flow under the state of the other.
    callback.searchParams.set("code", foreign.searchParams.get("code") ?? "");
    expect(await refusalOf((await browser.visit(callback.href)).response)).toBe("403 PROVIDER_REFUSED");
    callback.pathname = "/api/v1/auth/idp-a/callback";
    expect(await refusalOf((await browser.visit(callback.href)).response)).toBe("400 SIGN_IN_EXPIRED");
  });
});

describe("the provider of an organisation", () => {
  test("cannot have the code of another by sending the browser there", async () => {
    employee();
    otherPeer.person = peer.person;
    const browser = new Browser(server);
    const { url } = await browser.visit(organization.start, {
      until: ({ origin }) => origin === peer.issuer,
    });
    // Instead of its own login page it shows that of an honest provider, with the parameters it was given.
    const diverted = new URL(`${url.pathname}${url.search}`, otherPeer.issuer);
    const callback = await browser.visitUntilCallback(diverted.href);
    const askedBefore = peer.asked.length;
    expect(await refusalOf((await browser.visit(callback.href)).response)).toBe(
      "400 PROVIDER_ANSWER_INVALID",
    );
    expect(peer.asked.slice(askedBefore)).toEqual([]);
    expect(browser.session).toBeUndefined();
  });

  test("that is exchanged while somebody is at the old one signs nobody in", async () => {
    employee();
    const browser = new Browser(server);
    const callback = await browser.visitUntilCallback(organization.start);
    await organization.configure({ issuer: otherPeer.issuer });
    expect(await refusalOf((await browser.visit(callback.href)).response)).toBe("400 SIGN_IN_EXPIRED");
  });

  test("that is exchanged or removed takes its sessions and identities along", async () => {
    for (const end of [
      () => organization.configure({ issuer: otherPeer.issuer }),
      () => server.send("DELETE", "/api/v1/me/sso", { headers: withCookie(organization.owner.cookie) }),
    ]) {
      await organization.configure();
      employee();
      const browser = await signIn();
      await end();
      const me = await server.send("GET", "/api/v1/me", { headers: { cookie: browser.cookie } });
      expect(await refusalOf(me)).toBe("401 UNAUTHENTICATED");
      expect(
        await stores.postgres`SELECT 1 FROM sso_identities WHERE organization_id = ${organization.id}`,
      ).toHaveLength(0);
    }
    expect(await refusalAtSignIn()).toBe("404 NOT_FOUND");
  });

  test("makes sessions that do not reach beyond the organisation", async () => {
    employee();
    const browser = await signIn();
    for (const path of ["/api/v1/me/oauth/idp-a/start", "/api/v1/me/oauth/sso/start"]) {
      const refused = await server.send("GET", path, { headers: { cookie: browser.cookie } });
      expect(await refusalOf(refused)).toBe("403 FORBIDDEN");
    }
    const headers = withCookie(browser.session ?? "");
    expect(await refusalOf(await server.send("DELETE", "/api/v1/me/oauth/idp-a", { headers }))).toBe(
      "403 FORBIDDEN",
    );
  });
});

describe("linking the organisation's provider to one's account", () => {
  test("is the way for owners and for addresses of other domains", async () => {
    const browser = new Browser(server);
    browser.accept(organization.owner.cookie);
    employee({ email: freshEmail(), email_verified: false });
    expect((await browser.visit("/api/v1/me/oauth/sso/start?returnTo=/account")).url.pathname).toBe(
      "/account",
    );
    expect((await auditedIn(stores, organization.id)).at(-1)).toBe("LINK_IDENTITY identity:sso");
    expect((await whoIs(await signIn())).user.email).toBe(organization.owner.email);
  });

  test("is done once for an account", async () => {
    const browser = new Browser(server);
    browser.accept(organization.owner.cookie);
    employee();
    await browser.visit("/api/v1/me/oauth/sso/start");
    expect((await browser.visit("/api/v1/me/oauth/sso/start")).url.pathname).toBe("/");
    employee();
    const other = new Browser(server);
    other.accept(organization.owner.cookie);
    expect(await refusalOf((await other.visit("/api/v1/me/oauth/sso/start")).response)).toBe("409 CONFLICT");
  });

  test("is refused for an identity of another member, and where there is none", async () => {
    employee();
    await signIn();
    const browser = new Browser(server);
    browser.accept(organization.owner.cookie);
    const { response } = await browser.visit("/api/v1/me/oauth/sso/start");
    expect(await refusalOf(response)).toBe("409 CONFLICT");
    const { cookie } = await server.register();
    const none = await server.send("GET", "/api/v1/me/oauth/sso/start", { headers: { cookie } });
    expect(await refusalOf(none)).toBe("404 NOT_FOUND");
    expect(await refusalOf(await server.send("GET", "/api/v1/auth/sso/unknown/start"))).toBe("404 NOT_FOUND");
  });
});

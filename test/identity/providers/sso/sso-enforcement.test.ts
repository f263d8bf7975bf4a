import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Me } from "../../../../src/identity/types.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { bodyOf, cookieOf, freshEmail, type IdentityServer, refusalOf } from "../../identity-server.ts";
import { Browser } from "../browser.ts";
import { type NameServer, startNameServer } from "../name-server.ts";
import { type OpenIdPeer, startOpenIdPeer } from "../openid-peer.ts";
import { CALLBACK_OF_A, CALLBACK_OF_SSO, configured, providerServer } from "../provider-server.ts";
import { memberOf, type SsoOrganization, ssoOrganization } from "./sso-organization.ts";

let stores: TestStores;
let peer: OpenIdPeer;
let nameServer: NameServer;
let server: IdentityServer;
beforeAll(async () => {
  stores = await openTestStores();
  peer = await startOpenIdPeer({ redirectUris: [CALLBACK_OF_SSO, CALLBACK_OF_A] });
  nameServer = await startNameServer();
  server = providerServer(stores, {
    allow: ["127.0.0.1"],
    nameServer,
    providers: [configured("idp-a", peer)],
  });
});
afterAll(async () => {
  await Promise.all([peer.stop(), nameServer.stop()]);
  await stores.close();
});

let organization: SsoOrganization;
beforeEach(async () => {
  organization = await ssoOrganization(server, peer, nameServer);
});

const whoIs = (cookie: string): Promise<Response> =>
  server.send("GET", "/api/v1/me", { headers: { cookie } });

describe("while an organisation insists on its provider", () => {
  test("a member's password signs nobody in, and a wrong one says nothing about that", async () => {
    const { email } = await memberOf(stores, server, organization.id, "admin");
    expect((await server.logIn(email)).status).toBe(200);
    await organization.configure({ enforced: true });
    expect(await refusalOf(await server.logIn(email))).toBe("403 SSO_REQUIRED");
    expect(await refusalOf(await server.logIn(email, { password: "not the password" }))).toBe(
      "401 INVALID_CREDENTIALS",
    );
    await organization.configure({ enforced: false });
    expect((await server.logIn(email)).status).toBe(200);
  });

  test("a provider of the whole server signs no member in", async () => {
    const { email } = await memberOf(stores, server, organization.id, "member");
    peer.person = { sub: crypto.randomUUID(), email, email_verified: true };
    const before = new Browser(server);
    await before.visit("/api/v1/auth/idp-a/start");
    expect(before.session).toBeDefined();
    await organization.configure({ enforced: true });
    const browser = new Browser(server);
    const { response } = await browser.visit("/api/v1/auth/idp-a/start");
    expect(await refusalOf(response)).toBe("403 SSO_REQUIRED");
    expect(browser.session).toBeUndefined();
  });

  test("owners keep their way in, also when the provider is gone for good", async () => {
    const gone = await startOpenIdPeer({ redirectUris: [CALLBACK_OF_SSO] });
    await organization.configure({ issuer: gone.issuer, enforced: true });
    await gone.stop();
    const lone = providerServer(stores, { allow: ["127.0.0.1"], nameServer });
    expect(await refusalOf(await lone.send("GET", organization.start))).toBe("503 PROVIDER_UNAVAILABLE");
    expect((await lone.logIn(organization.owner.email)).status).toBe(200);
  });

  test("the sessions end that were made otherwise, but for those of owners", async () => {
    const member = await memberOf(stores, server, organization.id, "member");
    peer.person = { sub: crypto.randomUUID(), email: `ana@${organization.domain}`, email_verified: true };
    const bySso = new Browser(server);
    await bySso.visit(organization.start);
    expect((await whoIs(member.cookie)).status).toBe(200);
    await organization.configure({ enforced: true });
    expect(await refusalOf(await whoIs(member.cookie))).toBe("401 UNAUTHENTICATED");
    expect((await whoIs(bySso.cookie)).status).toBe(200);
    expect((await whoIs(organization.owner.cookie)).status).toBe(200);
  });

  test("a person of several organisations enters one that does not, and cannot be kept out of it", async () => {
    const { email, userId } = await memberOf(stores, server, organization.id, "member");
    const other = await server.register();
    const otherId = other.account.organization.id;
    await stores.postgres`
      INSERT INTO memberships (organization_id, user_id, role, created_at)
      VALUES (${otherId}, ${userId}, 'viewer', ${new Date(server.clock.now() + 1_000)})`;
    const entered = async (): Promise<number> =>
      (await bodyOf(await whoIs(cookieOf(await server.logIn(email))), Me)).organization.id;
    expect(await entered()).toBe(organization.id);
    await organization.configure({ enforced: true });
    expect(await entered()).toBe(otherId);
  });

  test("others are not concerned", async () => {
    await organization.configure({ enforced: true });
    const { email } = await server.register();
    expect((await server.logIn(email)).status).toBe(200);
    peer.person = { sub: crypto.randomUUID(), email: freshEmail(), email_verified: true };
    const browser = new Browser(server);
    await browser.visit("/api/v1/auth/idp-a/start");
    expect(browser.session).toBeDefined();
  });
});

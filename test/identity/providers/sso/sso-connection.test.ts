import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SsoConnection, SsoDomain } from "../../../../src/identity/providers/sso/types.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { bodyOf, ErrorAnswer, type IdentityServer, refusalOf, withCookie } from "../../identity-server.ts";
import { auditedIn } from "../audit-rows.ts";
import { type NameServer, startNameServer } from "../name-server.ts";
import { type OpenIdPeer, startOpenIdPeer } from "../openid-peer.ts";
import { CALLBACK_OF_SSO, providerServer } from "../provider-server.ts";
import {
  freshDomain,
  freshSlug,
  memberOf,
  publish,
  putSso,
  ssoOrganization,
  verify,
} from "./sso-organization.ts";

let stores: TestStores;
let peer: OpenIdPeer;
let nameServer: NameServer;
let server: IdentityServer;
beforeAll(async () => {
  stores = await openTestStores();
  peer = await startOpenIdPeer({ redirectUris: [CALLBACK_OF_SSO] });
  nameServer = await startNameServer();
  server = providerServer(stores, { allow: ["127.0.0.1"], nameServer });
});
afterAll(async () => {
  await Promise.all([peer.stop(), nameServer.stop()]);
  await stores.close();
});

const connectionTo = (
  { issuer, clientId, clientSecret }: OpenIdPeer,
  more: Record<string, unknown> = {},
) => ({
  slug: freshSlug(),
  issuer,
  clientId,
  clientSecret,
  ...more,
});

const getSso = (cookie: string): Promise<Response> =>
  server.send("GET", "/api/v1/me/sso", { headers: { cookie } });

const removeSso = (cookie: string): Promise<Response> =>
  server.send("DELETE", "/api/v1/me/sso", { headers: withCookie(cookie) });

/** Path and message of each problem of a refused body. */
async function problemsOf(response: Response): Promise<string[]> {
  const { code, fields = [] } = await bodyOf(response, ErrorAnswer);
  expect(code).toBe("VALIDATION_FAILED");
  return fields.map(({ path }) => path);
}

describe("the connection of an organisation", () => {
  test("is set, shown and removed, and written down each time without its secret", async () => {
    const { cookie, account } = await server.register();
    expect(await refusalOf(await getSso(cookie))).toBe("404 NOT_FOUND");
    const domain = freshDomain();
    const body = connectionTo(peer);
    const more = {
      groupRoles: { ops: "admin" },
      domains: [domain.toUpperCase()],
      enforced: true,
    };
    const made = await bodyOf(await putSso(server, cookie, { ...body, ...more }), SsoConnection);
    const { clientSecret, ...shown } = body;
    expect(made).toMatchObject({
      ...shown,
      groupRoles: { ops: "admin" },
      enforced: true,
      groupsClaim: "groups",
      defaultRole: "viewer",
      domains: [{ domain, verifiedAt: null, record: { type: "TXT", name: `_obs-verification.${domain}` } }],
      redirectUri: CALLBACK_OF_SSO,
    });
    expect(await (await getSso(cookie)).json()).toEqual(made);
    expect((await removeSso(cookie)).status).toBe(204);
    expect(await refusalOf(await getSso(cookie))).toBe("404 NOT_FOUND");
    const organizationId = account.organization.id;
    expect((await auditedIn(stores, organizationId)).slice(1)).toEqual(["UPDATE_SSO sso", "DELETE_SSO sso"]);
    const audit = JSON.stringify(
      await stores.postgres`SELECT meta FROM audit_log WHERE organization_id = ${organizationId}`,
    );
    expect(audit).toContain('"clientSecret":{"redacted":true}');
    expect(JSON.stringify(made) + audit).not.toContain(clientSecret);
  });

  test("keeps its secret encrypted", async () => {
    const { cookie, account } = await server.register();
    await putSso(server, cookie, connectionTo(peer));
    const [row] = await stores.postgres<{ secret: Uint8Array }[]>`
      SELECT client_secret AS secret FROM sso_connections WHERE organization_id = ${account.organization.id}`;
    expect(Buffer.from(row?.secret ?? []).toString("latin1")).not.toContain(peer.clientSecret);
  });

  test("keeps a secret that is not given, but never sends it to another issuer or client", async () => {
    const { cookie } = await server.register();
    const { clientSecret, ...body } = connectionTo(peer);
    expect(await problemsOf(await putSso(server, cookie, body))).toEqual(["/clientSecret"]);
    await putSso(server, cookie, { ...body, clientSecret });
    expect((await putSso(server, cookie, { ...body, groupsClaim: "roles" })).status).toBe(200);
    const other = await startOpenIdPeer({ redirectUris: [CALLBACK_OF_SSO] });
    expect(await problemsOf(await putSso(server, cookie, { ...body, issuer: other.issuer }))).toEqual([
      "/clientSecret",
    ]);
    expect(await problemsOf(await putSso(server, cookie, { ...body, clientId: "x" }))).toEqual([
      "/clientSecret",
    ]);
    await other.stop();
  });

  test("belongs to admins and owners, and a slug to one organisation", async () => {
    const organization = await ssoOrganization(server, peer, nameServer);
    for (const role of ["viewer", "member"] as const) {
      const { cookie } = await memberOf(stores, server, organization.id, role);
      for (const answer of [getSso(cookie), putSso(server, cookie, connectionTo(peer)), removeSso(cookie)])
        expect(await refusalOf(await answer)).toBe("403 FORBIDDEN");
    }
    const admin = await memberOf(stores, server, organization.id, "admin");
    expect((await getSso(admin.cookie)).status).toBe(200);
    const stranger = await server.register();
    const taken = connectionTo(peer, { slug: organization.slug });
    expect(await refusalOf(await putSso(server, stranger.cookie, taken))).toBe("409 CONFLICT");
    expect(await refusalOf(await getSso(stranger.cookie))).toBe("404 NOT_FOUND");
  });

  test("makes owners of groups only when an owner says so", async () => {
    const organization = await ssoOrganization(server, peer, nameServer);
    const admin = await memberOf(stores, server, organization.id, "admin");
    const makesOwners = connectionTo(peer, { slug: organization.slug, groupRoles: { bosses: "owner" } });
    expect(await refusalOf(await putSso(server, admin.cookie, makesOwners))).toBe("403 FORBIDDEN");
    await organization.configure({ groupRoles: { bosses: "owner" } });
    // Who chooses the provider chooses who is in which group.
    const other = connectionTo(peer, { slug: organization.slug });
    expect(await refusalOf(await putSso(server, admin.cookie, other))).toBe("403 FORBIDDEN");
  });

  test("is refused with everything that is wrong with it", async () => {
    const { cookie } = await server.register();
    const wrong: [Record<string, unknown>, string[]][] = [
      [{ slug: "Acme" }, ["/slug"]],
      [{ issuer: "ftp://x.example" }, ["/issuer"]],
      [{ issuer: "https://u:p@x.example" }, ["/issuer"]],
      [{ defaultRole: "owner" }, ["/defaultRole"]],
      [{ groupRoles: { ops: "king" } }, ["/groupRoles/ops"]],
      [{ groupRoles: { "a\u0000b": "admin" } }, ["/groupRoles/a\u0000b"]],
      [
        { groupRoles: Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`g${n}`, "viewer"])) },
        ["/groupRoles"],
      ],
      [{ domains: ["ok.example", "not a domain", "com"] }, ["/domains/1", "/domains/2"]],
      [{ domains: Array.from({ length: 21 }, freshDomain) }, ["/domains"]],
      [{ extra: 1 }, ["/extra"]],
    ];
    for (const [fields, paths] of wrong)
      expect(await problemsOf(await putSso(server, cookie, connectionTo(peer, fields)))).toEqual(paths);
  });
});

describe("the issuer of a connection", () => {
  const guarded = [
    "https://127.0.0.1:1/",
    "https://localhost/",
    "https://127.1/",
    "https://0x7f000001/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://169.254.169.254/",
    "https://10.0.0.1/",
    "https://[fd00:ec2::254]/",
    "http://169.254.169.254/",
    "http://8.8.8.8/",
  ];

  test.each(guarded)("is not %p, to which the server does not connect for a stranger", async (issuer) => {
    const strict = providerServer(stores, { nameServer });
    const { cookie } = await strict.register();
    expect(await problemsOf(await putSso(strict, cookie, connectionTo(peer, { issuer })))).toEqual([
      "/issuer",
    ]);
  });

  test("must call itself by that name, and be an OpenID provider", async () => {
    const { cookie } = await server.register();
    for (const issuer of [
      `${peer.issuer}/`,
      `${peer.issuer}/other`,
      `http://127.0.0.1:1`.replace(":1", ":2/x"),
    ]) {
      const answer = await putSso(server, cookie, connectionTo(peer, { issuer }));
      expect([400, 503]).toContain(answer.status);
    }
    const wrong = await putSso(server, cookie, connectionTo(peer, { issuer: `${peer.issuer}/` }));
    expect(await problemsOf(wrong)).toEqual(["/issuer"]);
  });

  test("cannot lead the server elsewhere by a redirect or by what its document says", async () => {
    const asked: string[] = [];
    const evil = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => {
        const { pathname, origin } = new URL(request.url);
        asked.push(pathname);
        if (pathname.startsWith("/redirecting/"))
          return Response.redirect(`${peer.issuer}/.well-known/openid-configuration`);
        if (pathname.startsWith("/inside/"))
          return Response.json({
            issuer: `${origin}/inside`,
            authorization_endpoint: `${origin}/auth`,
            token_endpoint: "http://169.254.169.254/token",
            jwks_uri: `${origin}/keys`,
          });
        return new Response("x".repeat(1_000_000), { headers: { "content-type": "application/json" } });
      },
    });
    const { cookie } = await server.register();
    for (const path of ["redirecting", "inside"]) {
      const issuer = `http://127.0.0.1:${evil.port}/${path}`;
      expect(await problemsOf(await putSso(server, cookie, connectionTo(peer, { issuer })))).toEqual([
        "/issuer",
      ]);
    }
    const huge = connectionTo(peer, { issuer: `http://127.0.0.1:${evil.port}/huge` });
    expect(await refusalOf(await putSso(server, cookie, huge))).toBe("503 PROVIDER_UNAVAILABLE");
    expect(asked).toHaveLength(3);
    await evil.stop(true);
  });

  test("that does not answer is a 503, and changes nothing", async () => {
    const { cookie } = await server.register();
    const away = connectionTo(peer, { issuer: "http://127.0.0.1:1" });
    expect(await refusalOf(await putSso(server, cookie, away))).toBe("503 PROVIDER_UNAVAILABLE");
    expect(await refusalOf(await getSso(cookie))).toBe("404 NOT_FOUND");
  });
});

describe("a domain", () => {
  test("is verified by the DNS record that the connection shows, and written down", async () => {
    const { cookie, account } = await server.register();
    const domain = freshDomain();
    const connection = await bodyOf(
      await putSso(server, cookie, connectionTo(peer, { domains: [domain] })),
      SsoConnection,
    );
    expect(await refusalOf(await verify(server, cookie, domain))).toBe("409 DOMAIN_NOT_VERIFIED");
    const [shown] = connection.domains;
    nameServer.records.set(`_obs-verification.${domain}`, ["obs-verification=somebody-elses", "v=spf1 -all"]);
    expect(await refusalOf(await verify(server, cookie, domain))).toBe("409 DOMAIN_NOT_VERIFIED");
    publish(nameServer, connection);
    const verified = await bodyOf(await verify(server, cookie, domain.toUpperCase()), SsoDomain);
    expect(verified).toEqual({
      domain,
      verifiedAt: expect.any(String),
      record: shown?.record ?? expect.anything(),
    });
    expect((await auditedIn(stores, account.organization.id)).at(-1)).toBe(
      `VERIFY_SSO_DOMAIN sso-domain:${domain}`,
    );
  });

  test("of another organisation's challenge is not verified, nor one that is not of the connection", async () => {
    const first = await ssoOrganization(server, peer, nameServer);
    const { cookie } = await server.register();
    await putSso(server, cookie, connectionTo(peer, { domains: [first.domain] }));
    expect(await refusalOf(await verify(server, cookie, first.domain))).toBe("409 DOMAIN_NOT_VERIFIED");
    expect(await refusalOf(await verify(server, cookie, freshDomain()))).toBe("404 NOT_FOUND");
    expect(await refusalOf(await verify(server, cookie, "%00%ff"))).toBe("404 NOT_FOUND");
  });

  test("stays verified while it stays, and begins anew when it comes back", async () => {
    const organization = await ssoOrganization(server, peer, nameServer);
    const second = freshDomain();
    const more = await organization.configure({ domains: [organization.domain, second] });
    const verifiedOf = ({ domains }: SsoConnection): string[] =>
      domains.filter(({ verifiedAt }) => verifiedAt !== null).map(({ domain }) => domain);
    expect(verifiedOf(more)).toEqual([organization.domain]);
    await organization.configure({ domains: [second] });
    expect(verifiedOf(await organization.configure())).toEqual([]);
    expect(await refusalOf(await verify(server, organization.owner.cookie, organization.domain))).toBe(
      "409 DOMAIN_NOT_VERIFIED",
    );
  });

  test("waits when the name servers do not answer", async () => {
    const { cookie } = await server.register();
    const lame = providerServer(stores, { allow: ["127.0.0.1"] });
    const domain = freshDomain();
    await putSso(server, cookie, connectionTo(peer, { domains: [domain] }));
    expect(await refusalOf(await verify(lame, cookie, domain))).toBe("503 UNAVAILABLE");
  });
});

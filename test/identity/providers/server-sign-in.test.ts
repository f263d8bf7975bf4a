import { afterAll, beforeAll, expect, test } from "bun:test";
import { serverPort } from "../../harness/server-port.ts";
import type { ServerProcess } from "../../harness/server-process.ts";
import { startSuiteServer } from "../../harness/suite-server.ts";
import type { IdentityServer } from "../identity-server.ts";
import { Browser } from "./browser.ts";
import { type OpenIdPeer, startOpenIdPeer } from "./openid-peer.ts";

let peer: OpenIdPeer;
let server: ServerProcess;
let send: IdentityServer["send"];

beforeAll(async () => {
  const port = await serverPort();
  const callback = (name: string): string => `http://127.0.0.1:${port}/api/v1/auth/${name}/callback`;
  peer = await startOpenIdPeer({ redirectUris: [callback("idp-b"), callback("sso")] });
  const env = {
    IDP_B_ISSUER: peer.issuer,
    IDP_B_CLIENT_ID: peer.clientId,
    IDP_B_CLIENT_SECRET: peer.clientSecret,
    IDP_B_NAME: "Peer",
    OUTBOUND_ALLOW: "127.0.0.1",
  };
  server = await startSuiteServer(env, { port });
  send = (method, path, { headers = {}, json } = {}) =>
    fetch(`${server.url}${path}`, {
      method,
      headers: { ...headers, ...(json !== undefined && { "content-type": "application/json" }) },
      redirect: "manual",
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
});
afterAll(async () => {
  await server.stop();
  await peer.stop();
});

test("the server signs people in as it is configured, and lets them bring a provider of their own", async () => {
  peer.person = { sub: "1", email: "ana@example.com", email_verified: true };
  const browser = new Browser({ send }, server.url);
  expect((await browser.visit("/api/v1/auth/idp-b/start?returnTo=/x")).url.href).toBe(`${server.url}/x`);
  const me = await send("GET", "/api/v1/me", { headers: { cookie: browser.cookie } });
  expect(await me.json()).toMatchObject({ user: { email: "ana@example.com" }, role: "owner" });
  const { issuer, clientId, clientSecret } = peer;
  const connection = { slug: "acme", issuer, clientId, clientSecret, enforced: true };
  const headers = { cookie: browser.cookie, origin: server.url };
  expect((await send("PUT", "/api/v1/me/sso", { headers, json: connection })).status).toBe(200);
  await browser.visit("/api/v1/me/oauth/sso/start");
  const bySso = new Browser({ send }, server.url);
  expect((await bySso.visit("/api/v1/auth/sso/acme/start")).url.href).toBe(`${server.url}/`);
  expect(bySso.session).toBeDefined();
  for (const secret of [peer.clientSecret, browser.session ?? "?", bySso.session ?? "?"])
    expect(server.output()).not.toContain(secret);
});

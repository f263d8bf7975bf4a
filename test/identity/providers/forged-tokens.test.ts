import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { freshEmail, type IdentityServer, refusalOf } from "../identity-server.ts";
import { Browser } from "./browser.ts";
import { type ForgingPeer, type Signature, startForgingPeer } from "./forging-peer.ts";
import { configured, providerServer } from "./provider-server.ts";

let stores: TestStores;
let peer: ForgingPeer;
let server: IdentityServer;
beforeAll(async () => {
  stores = await openTestStores();
  peer = startForgingPeer();
  server = providerServer(stores, { providers: [configured("idp-a", peer)] });
});
afterAll(async () => {
  await peer.stop();
  await stores.close();
});
beforeEach(() => {
  peer.signature = "honest";
  peer.claims = { sub: crypto.randomUUID(), email: freshEmail(), email_verified: true };
  peer.userinfo = {};
  peer.answer = {};
});

/** `in`, or the refusal with which a sign-in ends. */
async function signIn(): Promise<string> {
  const browser = new Browser(server);
  const { response } = await browser.visit("/api/v1/auth/idp-a/start");
  return browser.session === undefined ? refusalOf(response) : "in";
}

test("an honest token signs in", async () => {
  expect(await signIn()).toBe("in");
});

test.each<Signature>(["none", "other-key", "client-secret", "public-key"])(
  "a token signed with %s signs nobody in",
  async (signature) => {
    peer.signature = signature;
    expect(await signIn()).toBe("400 PROVIDER_ANSWER_INVALID");
  },
);

const nowSec = Math.floor(Date.now() / 1000);
const lies: [string, Record<string, unknown>][] = [
  ["of another issuer", { iss: "https://evil.example" }],
  ["for another client", { aud: "somebody-else" }],
  ["for several clients", { aud: ["obs", "somebody-else"] }],
  ["with another nonce", { nonce: "x" }],
  ["without a nonce", { nonce: undefined }],
  ["that is over", { exp: nowSec - 3_600, iat: nowSec - 7_200 }],
  ["without an end", { exp: undefined }],
  ["of nobody", { sub: undefined }],
  ["of an empty subject", { sub: "" }],
  ["of a subject that is no text", { sub: 7 }],
  ["of a subject that is too long", { sub: "x".repeat(256) }],
  ["of a subject that no database stores", { sub: "a\u0000b" }],
];
test.each(lies)("a token %s signs nobody in", async (_what, claims) => {
  peer.claims = { ...peer.claims, ...claims };
  expect(await signIn()).toBe("400 PROVIDER_ANSWER_INVALID");
});

test("an answer without an ID token signs nobody in", async () => {
  peer.answer = { id_token: undefined };
  expect(await signIn()).toBe("400 PROVIDER_ANSWER_INVALID");
});

test("the userinfo of somebody else adds nothing", async () => {
  const sub = crypto.randomUUID();
  peer.claims = { sub };
  peer.userinfo = { sub: "another", email: freshEmail(), email_verified: true };
  expect(await signIn()).toBe("400 PROVIDER_ANSWER_INVALID");
  peer.userinfo = { ...peer.userinfo, sub };
  expect(await signIn()).toBe("in");
});

test("a verification in one place does not count for an address in another", async () => {
  const sub = crypto.randomUUID();
  peer.claims = { sub, email_verified: true };
  peer.userinfo = { sub, email: freshEmail() };
  expect(await signIn()).toBe("403 EMAIL_NOT_VERIFIED");
});

test("an email that is none makes no account", async () => {
  for (const email of [7, ["a@example.com"], { a: 1 }, "a\u0000@example.com", ""]) {
    peer.claims = { sub: crypto.randomUUID(), email, email_verified: true };
    expect(await signIn()).toBe("403 EMAIL_NOT_VERIFIED");
  }
});

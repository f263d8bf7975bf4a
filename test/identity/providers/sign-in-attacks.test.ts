import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AUTHORIZATION_LIFE_MS } from "../../../src/identity/providers/limits.ts";
import { requireReturnPath, returnUrl } from "../../../src/identity/providers/return-path.ts";
import { TEST_ORIGIN } from "../../harness/http-app.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { freshEmail, type IdentityServer, refusalOf } from "../identity-server.ts";
import { Browser } from "./browser.ts";
import { type OpenIdPeer, startOpenIdPeer } from "./openid-peer.ts";
import { CALLBACK_OF_A, CALLBACK_OF_B, configured, providerServer } from "./provider-server.ts";

const START = "/api/v1/auth/idp-a/start";

let stores: TestStores;
let peer: OpenIdPeer;
let server: IdentityServer;
beforeAll(async () => {
  stores = await openTestStores();
  peer = await startOpenIdPeer({ redirectUris: [CALLBACK_OF_A, CALLBACK_OF_B] });
  server = providerServer(stores, { providers: [configured("idp-a", peer), configured("idp-b", peer)] });
});
afterAll(async () => {
  await peer.stop();
  await stores.close();
});

/** A browser that has just been sent back by the provider, and the address it was sent to. */
async function atCallback(): Promise<{ browser: Browser; callback: URL }> {
  peer.person = { sub: crypto.randomUUID(), email: freshEmail(), email_verified: true };
  const browser = new Browser(server);
  return { browser, callback: await browser.visitUntilCallback(START) };
}

const refusalAt = async (browser: Browser, url: URL): Promise<string> => {
  const refusal = await refusalOf((await browser.visit(url.href)).response);
  expect(browser.session).toBeUndefined();
  return refusal;
};

describe("a state", () => {
  test("works once", async () => {
    const { browser, callback } = await atCallback();
    const headers = { cookie: browser.cookie };
    await browser.visit(callback.href);
    expect(browser.session).toBeDefined();
    const replayed = await server.send("GET", `${callback.pathname}${callback.search}`, { headers });
    expect(await refusalOf(replayed)).toBe("400 SIGN_IN_EXPIRED");
  });

  test("works once also for two at the same moment", async () => {
    const { browser, callback } = await atCallback();
    const headers = { cookie: browser.cookie };
    const path = `${callback.pathname}${callback.search}`;
    const answers = await Promise.all([1, 2, 3, 4].map(() => server.send("GET", path, { headers })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([302, 400, 400, 400]);
  });

  test("is of no use in another browser, which would be signed in as whoever began it", async () => {
    const attacker = await atCallback();
    const victim = new Browser(server);
    expect(await refusalAt(victim, attacker.callback)).toBe("400 SIGN_IN_EXPIRED");
    const name = /sign_in_[\w-]+(?==)/.exec(attacker.browser.cookie)?.[0] ?? "";
    for (const value of ["planted", crypto.randomUUID().padEnd(43, "x")]) {
      victim.accept(`${name}=${value}`);
      expect(await refusalAt(victim, attacker.callback)).toBe("400 SIGN_IN_EXPIRED");
    }
    const ownBegin = await atCallback();
    expect(await refusalAt(ownBegin.browser, attacker.callback)).toBe("400 SIGN_IN_EXPIRED");
    // Nor can a stranger use it up.
    await attacker.browser.visit(attacker.callback.href);
    expect(attacker.browser.session).toBeDefined();
  });

  test("is of no use at another provider's callback", async () => {
    const { browser, callback } = await atCallback();
    callback.pathname = "/api/v1/auth/idp-b/callback";
    expect(await refusalAt(browser, callback)).toBe("400 SIGN_IN_EXPIRED");
  });

  test("is over after ten minutes", async () => {
    const { browser, callback } = await atCallback();
    server.clock.advance(AUTHORIZATION_LIFE_MS - 1);
    const inTime = await atCallback();
    server.clock.advance(1);
    expect(await refusalAt(browser, callback)).toBe("400 SIGN_IN_EXPIRED");
    await inTime.browser.visit(inTime.callback.href);
    expect(inTime.browser.session).toBeDefined();
  });

  test("that is missing, invented, repeated or too long is refused", async () => {
    const { browser, callback } = await atCallback();
    const { search } = callback;
    const variants: [string, string][] = [
      [search.replace(/state=[^&]+/, ""), "400 SIGN_IN_EXPIRED"],
      [search.replace(/state=[^&]+/, "state=invented"), "400 SIGN_IN_EXPIRED"],
      [search.replace(/state=[^&]+/, `state=${"x".repeat(5000)}`), "400 VALIDATION_FAILED"],
      [`${search}&state=other`, "400 VALIDATION_FAILED"],
      [`${search}&code=other`, "400 VALIDATION_FAILED"],
      ["", "400 SIGN_IN_EXPIRED"],
    ];
    for (const [variant, refusal] of variants) {
      callback.search = variant;
      expect(await refusalAt(browser, callback)).toBe(refusal);
    }
  });
});

describe("an answer of a provider", () => {
  test("with the code of somebody else's sign-in signs nobody in", async () => {
    const victim = await atCallback();
    const attacker = await atCallback();
    attacker.callback.searchParams.set("code", victim.callback.searchParams.get("code") ?? "");
    expect(await refusalAt(attacker.browser, attacker.callback)).toBe("403 PROVIDER_REFUSED");
  });

  test("with another nonce signs nobody in", async () => {
    peer.person = { sub: crypto.randomUUID(), email: freshEmail(), email_verified: true };
    const browser = new Browser(server);
    const { url } = await browser.visit(START, { until: ({ origin }) => origin === peer.issuer });
    url.searchParams.set("nonce", "chosen-by-somebody-else");
    const callback = await browser.visitUntilCallback(url.href);
    expect(await refusalAt(browser, callback)).toBe("400 PROVIDER_ANSWER_INVALID");
  });

  test("in the name of another issuer, or of none, signs nobody in", async () => {
    for (const issuer of ["https://evil.example", `${peer.issuer}/`, null]) {
      const { browser, callback } = await atCallback();
      if (issuer === null) callback.searchParams.delete("iss");
      else callback.searchParams.set("iss", issuer);
      expect(await refusalAt(browser, callback)).toBe("400 PROVIDER_ANSWER_INVALID");
    }
  });

  test("that is an error is not repeated to the person as its sender wrote it", async () => {
    const { browser, callback } = await atCallback();
    callback.searchParams.delete("code");
    callback.searchParams.set("error", "<script>alert(1)</script>");
    callback.searchParams.set("error_description", "Call this number");
    const { response } = await browser.visit(callback.href);
    const text = await response.text();
    expect(response.status).toBe(403);
    expect(text).not.toMatch(/script|number/);
  });
});

describe("the way back", () => {
  const foreign = [
    "https://evil.example/",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/..//evil.example",
    "/.//evil.example",
    "/x/..//evil.example",
    "javascript:alert(1)",
    "evil.example",
    "@evil.example",
    "",
    " /logs",
  ];

  test.each(foreign)("to %p is refused before anybody is sent anywhere", async (returnTo) => {
    const query = new URLSearchParams({ returnTo });
    expect(await refusalOf(await server.send("GET", `${START}?${query}`))).toBe("400 VALIDATION_FAILED");
  });

  test("is not endlessly long", async () => {
    const query = new URLSearchParams({ returnTo: `/${"x".repeat(3000)}` });
    expect(await refusalOf(await server.send("GET", `${START}?${query}`))).toBe("400 VALIDATION_FAILED");
  });

  test("is never to another origin, whatever is asked for", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc
        .array(
          fc.constantFrom("/", "\\", ".", "..", ":", "@", "evil.example", "%2f", "%5c", "\t", "?", "#"),
          { maxLength: 8 },
        )
        .map((parts) => `/${parts.join("")}`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        let path: string;
        try {
          path = requireReturnPath(text, TEST_ORIGIN);
        } catch {
          return;
        }
        const url = new URL(returnUrl(path, TEST_ORIGIN));
        expect(url.origin).toBe(TEST_ORIGIN);
        expect(url.pathname).not.toStartWith("//");
      }),
      { numRuns: 2_000 },
    );
  });
});

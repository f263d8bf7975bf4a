import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { IssuerDirectory } from "../../../src/identity/providers/issuer-directory.ts";
import {
  ISSUER_LIFE_MS,
  ISSUERS_MAX,
  PROVIDER_CONVERSATIONS_MAX,
} from "../../../src/identity/providers/limits.ts";
import { OpenIdConversations } from "../../../src/identity/providers/openid-conversation.ts";
import { ProviderProblem } from "../../../src/identity/providers/provider-problem.ts";
import { OutboundPolicy } from "../../../src/outbound/outbound-policy.ts";
import { Clock } from "../identity-server.ts";

/** A server on which every path is an issuer; it counts how often each is asked, and can keep silent. */
let server: ReturnType<typeof Bun.serve>;
const asked = new Map<string, number>();
let isSilent = false;

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const issuer = request.url.replace("/.well-known/openid-configuration", "");
      asked.set(issuer, (asked.get(issuer) ?? 0) + 1);
      if (isSilent) await new Promise(() => undefined);
      const [authorization_endpoint, token_endpoint, jwks_uri] = [
        `${issuer}/auth`,
        `${issuer}/token`,
        `${issuer}/keys`,
      ];
      return Response.json({ issuer, authorization_endpoint, token_endpoint, jwks_uri });
    },
  });
});
afterAll(() => server.stop(true));
beforeEach(() => {
  asked.clear();
  isSilent = false;
});

const policy = new OutboundPolicy({ allow: ["127.0.0.1"], allowPrivate: false });
const issuerOf = (name: string): string => `http://127.0.0.1:${server.port}/${name}`;
const clientOf = (name: string) => ({ issuer: issuerOf(name), clientId: "obs", clientSecret: "secret" });

describe("what is known of an issuer", () => {
  test("is asked for once by however many at a time, and again when it is old", async () => {
    const clock = new Clock();
    const issuers = new IssuerDirectory({ policy, now: clock.now });
    await Promise.all(Array.from({ length: 20 }, () => issuers.learn(issuerOf("one"))));
    clock.advance(ISSUER_LIFE_MS - 1);
    await issuers.learn(issuerOf("one"));
    expect(asked.get(issuerOf("one"))).toBe(1);
    clock.advance(1);
    await issuers.learn(issuerOf("one"));
    expect(asked.get(issuerOf("one"))).toBe(2);
  });

  test("is forgotten for others when there are too many", async () => {
    const issuers = new IssuerDirectory({ policy, now: new Clock().now });
    for (let count = 0; count <= ISSUERS_MAX; count += 1) await issuers.learn(issuerOf(`many-${count}`));
    await issuers.learn(issuerOf(`many-${ISSUERS_MAX}`));
    await issuers.learn(issuerOf("many-0"));
    expect([asked.get(issuerOf(`many-${ISSUERS_MAX}`)), asked.get(issuerOf("many-0"))]).toEqual([1, 2]);
  });
});

test("a provider that hangs is given up in time, and does not take more than its share", async () => {
  isSilent = true;
  const conversations = new OpenIdConversations(new IssuerDirectory({ policy, now: Date.now }));
  const begin = (): Promise<unknown> =>
    conversations.begin(clientOf("silent"), { redirectUri: "http://localhost:8080/callback" });
  let givenUp = 0;
  const hanging = Array.from({ length: PROVIDER_CONVERSATIONS_MAX }, begin).map((begun) =>
    begun
      .catch((error) => error)
      .finally(() => {
        givenUp++;
      }),
  );
  const refused = await begin().catch((error) => error);
  expect(refused).toBeInstanceOf(ProviderProblem);
  // At once, without waiting for any of the others.
  expect(givenUp).toBe(0);
  const outcomes = await Promise.all(hanging);
  expect(
    outcomes.every((outcome) => outcome instanceof ProviderProblem && outcome.kind === "unavailable"),
  ).toBe(true);
  isSilent = false;
  expect(await begin()).toMatchObject({ state: expect.any(String) });
});

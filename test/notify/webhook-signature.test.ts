import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { mintWebhookSecret, signWebhook } from "../../src/notify/webhook-signature.ts";

/** The example that the Standard Webhooks specification and its reference libraries publish. */
const PUBLISHED = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  message: { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestampSec: 1_614_265_330, body: '{"test": 2432232314}' },
  signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};

describe("a signed webhook", () => {
  test("has the headers and the signature of the published example", () => {
    expect(signWebhook([PUBLISHED.secret], PUBLISHED.message)).toEqual({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": PUBLISHED.signature,
    });
  });

  test("carries a signature of every secret, each the one it would have alone", () => {
    const other = mintWebhookSecret();
    const both = signWebhook([other, PUBLISHED.secret], PUBLISHED.message)["webhook-signature"];
    const alone = signWebhook([other], PUBLISHED.message)["webhook-signature"];
    expect(both).toBe(`${alone} ${PUBLISHED.signature}`);
  });

  test("is what a receiver computes from the bytes it gets, whatever they are", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/),
        fc.nat(),
        fc.string({ unit: "grapheme" }),
        (id, timestampSec, body) => {
          const secret = mintWebhookSecret();
          const headers = signWebhook([secret], { id, timestampSec, body });
          const received = Buffer.concat([
            Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`),
            Buffer.from(body),
          ]);
          const key = Buffer.from(secret.replace("whsec_", ""), "base64");
          expect(headers["webhook-signature"]).toBe(
            `v1,${createHmac("sha256", key).update(received).digest("base64")}`,
          );
        },
      ),
    );
  });

  test.each([
    ["an id with a full stop", [PUBLISHED.secret], { ...PUBLISHED.message, id: "a.b" }],
    ["an empty id", [PUBLISHED.secret], { ...PUBLISHED.message, id: "" }],
    ["half a second", [PUBLISHED.secret], { ...PUBLISHED.message, timestampSec: 0.5 }],
    ["no secret", [], PUBLISHED.message],
    ["an empty secret", ["whsec_"], PUBLISHED.message],
    ["a secret without its prefix", ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], PUBLISHED.message],
    ["a secret that is no base64", ["whsec_!!!!"], PUBLISHED.message],
  ])("is not made of %s", (_what, secrets, message) => {
    expect(() => signWebhook(secrets, message)).toThrow();
  });
});

test("a new secret has 256 bits and is another one each time", () => {
  const secrets = Array.from({ length: 50 }, mintWebhookSecret);
  expect(new Set(secrets).size).toBe(50);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice(6), "base64")).toHaveLength(32);
  }
});

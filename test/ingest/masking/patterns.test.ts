import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EntryMasker } from "../../../ingest/masking/mask.ts";
import { MASK_PATTERNS, type MaskPatternName } from "../../../ingest/masking/patterns.ts";
import { anyText } from "../log-entry-arbitrary.ts";

const masked = (name: MaskPatternName, text: string): string =>
  new EntryMasker({ fields: [], patterns: [name] }).text(text);

const JWT = `eyJ${"hbGciOiJIUzI1NiJ9"}.eyJzdWIiOiIxIn0.c2lnbmF0dXJl`;
const PEM = `-----BEGIN RSA PRIVATE KEY-----\nMIIEow${"A".repeat(80)}\n-----END RSA PRIVATE KEY-----`;

/** What each pattern makes of texts as they stand in logs. */
const EXAMPLES: Readonly<Record<MaskPatternName, readonly (readonly [text: string, masked: string])[]>> = {
  card: [
    ["paid with 4111111111111111 today", "paid with [card] today"],
    ["paid with 4111 1111 1111 1111.", "paid with [card]."],
    ["order 12 5500-0000-0000-0004 ok", "order 12 [card] ok"],
    ["amex 3782 822463 10005, visa 4012888888881881", "amex [card], visa [card]"],
    // A wrong check digit, a time in nanoseconds, no network, the middle of a longer number.
    ["4111111111111112", "4111111111111112"],
    ["1790000000000000000", "1790000000000000000"],
    ["0000000000000000", "0000000000000000"],
    ["99941111111111111111", "99941111111111111111"],
    ["2026-11-22 10:00:00.123456", "2026-11-22 10:00:00.123456"],
  ],
  email: [
    ["mail to ann.lee+x@example.co.uk failed", "mail to [email] failed"],
    ["user=bob@example.org;from=<eve@example.net>", "user=[email];from=<[email]>"],
    ["jörg@münchen.example", "[email]"],
    ["git@10.0.0.1, a @ b, @decorator, x@localhost", "git@10.0.0.1, a @ b, @decorator, x@localhost"],
  ],
  token: [
    [`Authorization: Bearer ${"a1B2".repeat(6)}==`, "Authorization: [token]"],
    [`cookie=${JWT}; path=/`, "cookie=[token]; path=/"],
    [`push ghp_${"a".repeat(36)} to origin`, "push [token] to origin"],
    [`obs_${"A-_b".repeat(10)}abc is mine`, "[token] is mine"],
    ["the bearer of this, basic rules", "the bearer of this, basic rules"],
  ],
  key: [
    ["id AKIAIOSFODNN7EXAMPLE used", "id [key] used"],
    [`key:\n${PEM}\nend`, "key:\n[key]\nend"],
    ["-----BEGIN PRIVATE KEY-----\nMIIEow cut", "[key]"],
    ["AKIA and nothing more", "AKIA and nothing more"],
  ],
  password: [
    ["login user=ann password=hunter2 ok", "login user=ann password=[password] ok"],
    ['{"db_password": "p\\"w", "n": 1}', '{"db_password": [password], "n": 1}'],
    ["--client-secret='a b' x", "--client-secret=[password] x"],
    ["API_KEY=abc,apiKey: def", "API_KEY=[password],apiKey: [password]"],
    ["postgres://app:s3cret@db:5432/x", "postgres://app:[password]@db:5432/x"],
    ["the password was wrong", "the password was wrong"],
  ],
};

for (const [name, examples] of Object.entries(EXAMPLES) as [MaskPatternName, (typeof EXAMPLES)["card"]][])
  describe(`the pattern ${name}`, () => {
    test.each(examples)("makes of %p %p", (text, expected) => {
      expect(masked(name, text)).toBe(expected);
    });

    test("reads any text, and leaves nothing to find in what it made of it", () => {
      fc.assert(
        fc.property(
          fc.array(fc.oneof(anyText(20), fc.constantFrom(...examples.map(([text]) => text)))),
          (parts) => {
            const text = parts.join(" ");
            const once = masked(name, text);
            expect(masked(name, once)).toBe(once);
          },
        ),
        { numRuns: 100 },
      );
    });
  });

test("a long text made to be slow is no slower than its length", () => {
  // Would take hours where time grows with the square of the length.
  for (const unit of [
    "1 ",
    "4",
    "@",
    "a@",
    "password=",
    'pwd="',
    "-----BEGIN PRIVATE KEY-----",
    "eyJa.",
    "://:",
  ])
    for (const name of Object.keys(MASK_PATTERNS) as MaskPatternName[])
      masked(name, unit.repeat(Math.ceil(60_000 / unit.length)));
});

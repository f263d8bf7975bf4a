import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EntryMasker } from "../../../ingest/masking/mask.ts";
import { MASK_PATTERNS, type MaskPatternName } from "../../../ingest/masking/patterns.ts";
import { anyText } from "../log-entry-arbitrary.ts";

const masked = (name: MaskPatternName, text: string): string =>
  new EntryMasker({ fields: [], patterns: [name] }).text(text);

const JWT = `eyJ${"hbGciOiJIUzI1NiJ9"}.eyJzdWIiOiIxIn0.c2lnbmF0dXJl`;
const PEM = `-----BEGIN RSA PRIVATE KEY-----\nMIIEow${"A".repeat(80)}\n-----END RSA PRIVATE KEY-----`;

/** What opens and never closes, goes on and never ends, again and again. */
const SLOW_SECRETS = [
  ...[
    "password=",
    "password:[",
    "password:[\n",
    "password:{ ",
    "password:[x\n",
    "password:(",
    "password:(a ",
  ],
  ...[
    "pwd=a[ ",
    "pwd=a{b",
    "pwd=a[[[[[[[[",
    "pwd=a(\n",
    "pwd=[]",
    'pwd="',
    "pwd='",
    "pwd='\n",
    'pwd="\n',
    'pwd=\\"\n',
    "pwd=\\",
  ],
  ...[
    "pwd=[\"'",
    "pwd:['\n'",
    "pwd:[x\n\n\n]",
    'pwd:[\\"\\\\\\"',
    "://",
    "://:",
    "://a:b",
    "://a:@",
    "://a:b@ ",
  ],
  ...["pwd    ", "pwd\\\\\\\\", "password", "PASS", "api-"],
];

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
    // Lists and objects, on one line and over several.
    ['{"password":["sec1"],"n":1}', '{"password":[password],"n":1}'],
    ['{"password":{"value":"sec}2"},"n":1}', '{"password":[password],"n":1}'],
    ['{\n  "tokens": [\n    "a",\n    "b"\n  ],\n  "n": 1', '{\n  "tokens": [password],\n  "n": 1'],
    ["password: [sec1, sec2] ok", "password: [password] ok"],
    ["passwords=('sec1', 'sec2') secret=map[a:b c:d] ok", "passwords=[password] secret=[password] ok"],
    ["token: [sec1\nnext line", "token: [password]\nnext line"],
    // Other languages' separators and quotes.
    ['Parameters: {"user"=>"u", "password"=>"sec"}', 'Parameters: {"user"=>"u", "password"=>[password]}'],
    ["password => sec, pwd := sec", "password => [password], pwd := [password]"],
    ["password='se\\'c34' tail", "password=[password] tail"],
    ["SET `password` = 'it''s', n = 1", "SET `password` = [password], n = 1"],
    ["{u'password': u'se c', b'token': b\"s c\"}", "{u'password': [password], b'token': [password]}"],
    // JSON in a text of JSON.
    ['{"note":"{\\"password\\":[\\"s]c\\"],\\"n\\":1}"', '{"note":"{\\"password\\":[password],\\"n\\":1}"'],
    ['{"note":"{\\"password\\":\\"cut","n":1', '{"note":"{\\"password\\":[password]","n":1'],
    // Cut off.
    ['{"user":"u","password":"tru', '{"user":"u","password":[password]'],
    ["password='a b\nnext line", "password=[password]\nnext line"],
    ['{"password":[\n  "a",\n  "b', '{"password":[password]'],
    // Addresses whose password has what should be escaped in it.
    ["amqp://u:p@ss20@host/db?a=b@c", "amqp://u:[password]@host/db?a=b@c"],
    ["redis://:sec@h, smtp://bob@mail:sec@h:25", "redis://:[password]@h, smtp://bob@mail:[password]@h:25"],
    ["http://h:80/a@b", "http://h:80/a@b"],
    // A value that overlaps an address is masked with it.
    ["://u:password=[x@h, sec] ok", "://u:[password] ok"],
    ["X-Api-Key: leak6", "X-Api-Key: [password]"],
    ["the password was wrong", "the password was wrong"],
    ["password reset for bob", "password reset for bob"],
    ["password: changed for bob", "password: [password] for bob"],
    ["forgot my password :( please help", "forgot my password :[password] please help"],
    ["password=x[9{k user=bob", "password=[password] user=bob"],
    ["token: [don't, can't] ok", "token: [password] ok"],
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

/** What no text has but for its secret. */
const MARK = "\u{3a9}";
const secretOf = (...chars: string[]): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(MARK, MARK, "a", "1", ...chars), { minLength: 1, maxLength: 8 })
    .map((parts) => parts.join(""));
const anySecret = secretOf('"', "'", "\\", "[", "]", "{", "}", "(", ")", " ", ",", ";", "=", "/", "\n");
const secretName = fc
  .tuple(
    fc.constantFrom("", "db_", "X-", "spring.datasource.", "user's ", "x".repeat(50)),
    fc.constantFrom(
      ...["password", "Password", "PASSWORD", "passWord", "passwd", "PassPhrase", "pwd", "secret", "TOKENS"],
      ...[
        "api_key",
        "apiKey",
        "ApiKey",
        "Api-Key",
        "API-KEY",
        "X-API-Key",
        "Access_Key",
        "SECRET_ACCESS_KEY",
      ],
    ),
  )
  .map((parts) => parts.join(""));
const holder = fc.constantFrom(
  (secret: string): unknown => secret,
  (secret: string): unknown => [secret],
  (secret: string): unknown => ["a]", [{ b: secret }, secret], 1],
  (secret: string): unknown => ({ value: secret, "it's }": null }),
);

describe("behind the name of a secret", () => {
  test("an attribute or a member is hidden however the name is capitalised", () => {
    const masker = new EntryMasker({ fields: [], patterns: ["password"] });
    fc.assert(
      fc.property(secretName, (name) => {
        expect(masker.attributeText(name, "x")).toBe("[masked]");
        expect(masker.attributeText(`headers.${name}`, "x")).toBe("[masked]");
        expect(masker.value({ [name]: ["x"], n: 1 }, "headers")).toEqual({ [name]: "[masked]", n: 1 });
        expect(masker.attributeText(`${name}_file`, "x")).toBe("x");
      }),
    );
  });

  test("nothing of a value is left in JSON, in JSON in its texts, nor where any of it was cut off; all else is", () => {
    fc.assert(
      fc.property(
        secretName,
        anySecret,
        holder,
        fc.constantFrom(0, 2),
        fc.nat({ max: 3 }),
        fc.nat(),
        (name, secret, hold, indent, depth, cut) => {
          let text = JSON.stringify({ user: "u", [name]: hold(secret), n: 1 }, null, indent);
          let rest = text.slice(text.lastIndexOf(","));
          for (let i = 0; i < depth; i++) {
            rest = `${JSON.stringify(rest).slice(1, -1)}"`;
            text = JSON.stringify(text);
          }
          const found = masked("password", text);
          expect(found).not.toContain(MARK);
          expect(found).toEndWith(`[password]${rest}`);
          expect(masked("password", text.slice(0, cut % text.length))).not.toContain(MARK);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("nothing of a value is left as other languages write it", () => {
    const escaped = (secret: string, quote: string): string =>
      quote + secret.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`) + quote;
    const written = fc.oneof(
      anySecret.map((secret) => escaped(secret, "'")),
      anySecret.map((secret) => escaped(secret, '"')),
      anySecret.map((secret) => `['x', u${escaped(secret, "'")}]`),
      anySecret.map((secret) => `('x', ${escaped(secret, "'")})`),
      anySecret.map((secret) => `{:a=>"b", "c"=>[${escaped(secret, '"')}]}`),
      secretOf("'").map((secret) => `'${secret.replaceAll("'", "''")}'`),
      secretOf(".", "/", "+", "$", "%", "<", "@", "-", "_"),
      secretOf(" ", ":", ",").map((secret) => `map[a:${secret} b:${secret}]`),
    );
    fc.assert(
      fc.property(
        secretName,
        fc.constantFrom("", '"', "'", "`", '\\"'),
        fc.constantFrom("=", ":", ": ", " = ", "=>", " => ", ":=", "\t:\t", "=\\u003e", `:${" ".repeat(20)}`),
        written,
        (name, quote, separator, value) => {
          const before = quote + name + quote + separator;
          expect(masked("password", `a ${before}${value} tail`)).toBe(`a ${before}[password] tail`);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("nothing is left of a password in an address", () => {
    const name = fc.constantFrom("", "u", "bob@corp.example");
    fc.assert(
      fc.property(name, secretOf("@", ":", "[", "]", "!", ",", "&", "="), (user, secret) => {
        expect(masked("password", `to amqp://${user}:${secret}@host:1/a@b ok`)).toBe(
          `to amqp://${user}:[password]@host:1/a@b ok`,
        );
      }),
      { numRuns: 500 },
    );
  });
});

/** A bracket in each of many short values is followed for some 250 characters. */
const READS_PER_CHAR_MAX = 64;

test("values of a text made to be slow are read about once", () => {
  const charCodeAt = String.prototype.charCodeAt;
  let reads = 0;
  const counting = function (this: string, at: number): number {
    reads++;
    return charCodeAt.call(this, at);
  };
  const readsOf = (text: string): number => {
    Object.defineProperty(String.prototype, "charCodeAt", { value: counting });
    try {
      reads = 0;
      MASK_PATTERNS.password.find(text);
      return reads;
    } finally {
      Object.defineProperty(String.prototype, "charCodeAt", { value: charCodeAt });
    }
  };
  const perChar = SLOW_SECRETS.map((unit) => {
    const text = unit.repeat(Math.ceil(40_000 / unit.length));
    return { unit, reads: Math.ceil(readsOf(text) / text.length) };
  });
  expect(Math.max(...perChar.map(({ reads }) => reads))).toBeGreaterThan(0);
  expect(perChar.filter(({ reads }) => reads > READS_PER_CHAR_MAX)).toEqual([]);
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
    ...SLOW_SECRETS,
  ])
    for (const name of Object.keys(MASK_PATTERNS) as MaskPatternName[])
      masked(name, unit.repeat(Math.ceil(60_000 / unit.length)));
});

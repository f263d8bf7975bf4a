import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { PatternMiner } from "../../../../src/mining/miner.ts";
import { Tokenizer } from "../../../../src/mining/tokenizer.ts";

/** The templates of messages with the messages of each, in the order of the templates. */
function mine(messages: readonly string[]): Map<string, string[]> {
  const miner = new PatternMiner();
  const forms = messages.map((message) => miner.add(message));
  const patterns = miner.patterns().toSorted((a, b) => (a.template < b.template ? -1 : 1));
  return new Map(
    patterns.map(({ template, forms: members }) => [
      template,
      messages.filter((_, i) => members.includes(forms[i] ?? -1)).toSorted(),
    ]),
  );
}

function templates(...messages: string[]): string[] {
  return [...mine(messages).keys()];
}

function formOf(message: string): string {
  const tokenizer = new Tokenizer();
  tokenizer.read(message);
  return tokenizer.form();
}

describe("values are recognised by what they are", () => {
  const cases: readonly [string, string, string, string][] = [
    ["numbers", "worker 17 is idle", "worker 4 is idle", "worker <*> is idle"],
    ["negative numbers", "offset -12 read", "offset 3 read", "offset <*> read"],
    ["quantities with different units", "took 20 ms to load", "took 3 seconds to load", "took <*> to load"],
    ["one unit", "took 20 ms to load", "took 31 ms to load", "took <*> ms to load"],
    ["quantities said twice", "wrote 1301 bytes (1.27 KB) out", "wrote 12 bytes out", "wrote <*> out"],
    ["comparisons", "lifetime <1 sec", "lifetime 00:02", "lifetime <*>"],
    ["addresses with and without port", "peer 10.0.0.1:9000 left", "peer 10.9.0.7 left", "peer <*> left"],
    ["hardware addresses", "offer from 00:11:43:e3:ba:c3", "offer from ee:ff:01:02:aa:bb", "offer from <*>"],
    ["IPv6", "peer fe80::1%eth0 left", "peer 2001:db8::ff:2 left", "peer <*> left"],
    [
      "UUIDs",
      "order 9b2f1c3e-0a4d-4e2a-9a44-0d8a2a4f7c11 paid",
      "order 00000000-0000-4000-8000-00000000abcd paid",
      "order <*> paid",
    ],
    ["hexadecimal", "at 0x7f3a stack", "at 0xdeadbeef stack", "at <*> stack"],
    ["identifiers with a name", "job_20_m_1 done", "job_31_r_7 done", "job_<*> done"],
    ["dates", "since Fri Jun 17 07:07:00 2005 up", "since Mon Jul 4 1:00:02 2005 up", "since <*> up"],
    ["time stamps", "2024-01-02T03:04:05.678Z start", "2025-11-12T13:14:15Z start", "<*> start"],
    ["paths", "open /etc/hosts failed", "open /var/lib/app/data failed", "open /<*> failed"],
    ["Windows paths", "load C:\\Windows\\a.dll", "load D:\\Temp\\x\\b.dll", "load <*>"],
    ["paths with parameters", "GET /a?x=1&y=b,c ok", "GET /b/c?q=(1) ok", "GET /<*> ok"],
    ["hosts", "lookup db.example.com slow", "lookup mail.example.org slow", "lookup <*> slow"],
    [
      "mail addresses",
      "mail to a@example.com sent",
      "mail to bob.b@mail.example.net sent",
      "mail to <*> sent",
    ],
    ["lists", "ask 1, 2, 3 again", "ask 7 again", "ask <*> again"],
    ["names with a digit", "sha256 of 17 checked", "sha256 of 9 checked", "sha256 of <*> checked"],
    ["many numbers", "speeds ( 3552 3534 3375 )", "speeds ( 1 2 )", "speeds ( <*> )"],
    ["ranges of nodes", "domains node-[40-63] up", "domains node-5 up", "domains node-<*> up"],
    ["leaders", "compare.......0 of it", "compare.......12 of it", "compare.......<*> of it"],
    [
      "empty brackets",
      "login from 1.2.3.4 () now",
      "login from 1.2.3.4 (a.example.com) now",
      "login from <*> (<*>) now",
    ],
  ];
  for (const [what, one, other, template] of cases) {
    test(what, () => expect(templates(one, other)).toEqual([template]));
  }
});

describe("words are values where enough messages differ in them alone", () => {
  const people = [
    "alice",
    "bob",
    "carol",
    "dave",
    "erin",
    "frank",
    "grace",
    "heidi",
    "ivan",
    "judy",
    "mallory",
    "oscar",
  ];

  test("one place", () => {
    expect(templates(...people.map((name) => `Accepted password of ${name} at the gate`))).toEqual([
      "Accepted password of <*> at the gate",
    ]);
  });

  test("what was found to differ is never shown, however alike the examples are", () => {
    const messages = people.flatMap((name) =>
      people.map((other) => `Consumer ${name} of topic ${other} lags by 7`),
    );
    expect(templates(...messages)).toEqual(["Consumer <*> of topic <*> lags by <*>"]);
  });

  test("a name behind its kind takes three", () => {
    expect(templates(...people.slice(0, 3).map((name) => `session opened for user ${name}`))).toEqual([
      "session opened for user <*>",
    ]);
  });

  test("several places at once, of which no two messages share any", () => {
    const letters = "abcdefghijklmnopqrstuvwxyz";
    const messages = [...letters].map(
      (letter, i) => `account ${letter}lix moved its project ${letters.charAt(25 - i)}polo to the archive`,
    );
    expect(templates(...messages)).toEqual(["account <*> moved its project <*> to the archive"]);
  });

  test("two states of a thing are two patterns", () => {
    expect(templates("scheduler startup succeeded", "scheduler shutdown succeeded")).toHaveLength(2);
    expect(templates("overlap is true for the panel", "overlap is false for the panel")).toHaveLength(2);
    const states = ["Started", "Stopped", "Paused", "Resumed", "Suspended", "Crashed"];
    expect(
      templates(...states.map((state) => `machine on this host ${state} (lifecycle event)`)),
    ).toHaveLength(6);
  });

  test("messages that share little stay apart", () => {
    const messages = people.map((name) => `${name} ready`);
    expect(templates(...messages)).toHaveLength(messages.length);
  });

  test("names of errors stay", () => {
    const failures = ["java.io.IOException", "java.net.SocketTimeoutException"];
    expect(templates(...failures.map((name) => `request failed: ${name}: try again`))).toHaveLength(2);
  });
});

const word = fc.constantFrom(
  "read",
  "user",
  "alice",
  "bob",
  "file",
  "lost",
  "of",
  "TRUE",
  "a.b.c",
  "/x/y",
  "ffffffff",
  "ab",
);
const number = fc.constantFrom("0", "17", "-3", "0x1f", "10.0.0.1", "a1", "Jun 17", "<1", "20 ms", "b0 KB");
const joint = fc.constantFrom(
  " ",
  "  ",
  ": ",
  "=",
  ", ",
  ",",
  " (",
  ")",
  "[",
  "] ",
  '"',
  ":",
  "...",
  "\t",
  "/",
  "-",
);
const message = fc
  .array(fc.tuple(fc.oneof(word, number, fc.string({ maxLength: 3 })), joint), { maxLength: 9 })
  .map((parts) => parts.flat().join(""));

test("the order of messages changes neither groups nor templates", () => {
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 60 }),
      fc.infiniteStream(fc.double({ noNaN: true })),
      (messages, keys) => {
        const shuffled = messages
          .map((text) => ({ text, key: keys.next().value }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ text }) => text);
        expect([...mine(shuffled)]).toEqual([...mine(messages)]);
      },
    ),
    { numRuns: 300 },
  );
});

test("how often a message occurs changes nothing", () => {
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 30 }), (messages) => {
      expect([...mine([...messages, ...messages]).keys()]).toEqual([...mine(messages).keys()]);
    }),
    { numRuns: 100 },
  );
});

test("messages of one normal form in the store are of one form", () => {
  fc.assert(
    fc.property(fc.oneof(message, fc.string({ unit: "binary", maxLength: 40 })), (text) => {
      expect(formOf(text.replaceAll(/[A-Za-z_]*[0-9][0-9A-Za-z_]*/g, "0"))).toBe(formOf(text));
    }),
    { numRuns: 2000 },
  );
});

describe("any message is taken", () => {
  test("empty, blank and of one sign", () => {
    expect(templates("", " ", "\u0001", "-", "=")).toEqual(["", "-", "="]);
  });

  test("unicode", () => {
    expect(templates("ошибка 5 в модуле 😀", "ошибка 77 в модуле 😀")).toEqual(["ошибка <*> в модуле 😀"]);
    expect(templates("half \ud83d of 1", "half \ud83d of 2")).toEqual(["half \ud83d of <*>"]);
  });

  test("of 8192 characters and of ten thousand tokens, in bounded time", () => {
    const miner = new PatternMiner();
    for (let i = 0; i < 200; i++) {
      miner.add(`${i} `.repeat(5000));
      miner.add("a=b,".repeat(2500 + i));
      miner.add("word ".repeat(10_000 + i));
      miner.add("x".repeat(8192 - i));
      miner.add("...".repeat(4000) + i);
      miner.add("/?".repeat(4000) + i);
    }
    expect(miner.patterns().length).toBeLessThanOrEqual(5 + 200);
  });

  test("thousands of messages of random words", () => {
    const miner = new PatternMiner();
    for (let i = 0; i < 3000; i++)
      miner.add(
        Array.from({ length: 40 }, (_, place) =>
          Bun.hash(`${i} ${place}`).toString(36).replaceAll(/\d/g, "x"),
        ).join(" "),
      );
    const patterns = miner.patterns();
    expect(patterns.flatMap(({ forms }) => forms).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: miner.formCount }, (_, i) => i),
    );
  });
});

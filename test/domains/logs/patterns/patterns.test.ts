import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { PatternsAnswer } from "../../../../src/domains/logs/patterns/types.ts";
import { PatternMiner } from "../../../../src/mining/miner.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { idAt, insertRows, type StoredRow } from "../stored-rows.ts";
import { type PatternApp, patternApp } from "./pattern-app.ts";

const NOW_MS = Date.parse("2026-03-02T00:00:00Z");
const HOUR_MS = 3_600_000;
const WINDOW = { from: "2026-03-01T12:00:00Z", to: "2026-03-01T18:00:00Z" };
const FROM_MS = Date.parse(WINDOW.from);
const TO_MS = Date.parse(WINDOW.to);

let stores: TestStores;
let app: PatternApp;
let organizations = 100;

beforeAll(async () => {
  stores = await openTestStores();
  app = patternApp(stores, () => NOW_MS);
});
afterAll(() => stores.close());

interface Written {
  readonly message: string;
  readonly tsMs: number;
  readonly level?: string;
  readonly service?: string;
}

/** A new organization with these entries. */
async function write(entries: readonly Written[]): Promise<number> {
  const organizationId = organizations++;
  const rows = entries.map(
    ({ tsMs, ...rest }, i): StoredRow => ({
      organizationId,
      ts: BigInt(tsMs) * 1_000_000n,
      id: idAt(NOW_MS, i),
      ...rest,
    }),
  );
  await insertRows(stores.clickhouse, rows);
  return organizationId;
}

function countedTotal({ patterns, other }: PatternsAnswer): number {
  return patterns.reduce((sum, { count }) => sum + count, 0) + other.count;
}

/** Counts of patterns by mining every message, one by one. */
function minedCounts(messages: readonly string[]): Map<string, number> {
  const miner = new PatternMiner();
  const forms = messages.map((message) => miner.add(message));
  const counts = new Map<string, number>();
  for (const { template, forms: members } of miner.patterns()) {
    const count = forms.filter((form) => members.includes(form)).length;
    counts.set(template, (counts.get(template) ?? 0) + count);
  }
  return counts;
}

const LEVELS = ["info", "warn", "error", ""];
const SERVICES = ["api", "worker", ""];
const USERS = ["alice", "bob", "carol", "dave", "erin", "frank"];

/** Entries of some templates with values that vary, over the window and the time before it. */
function someEntries(count: number): Written[] {
  return Array.from({ length: count }, (_, i) => {
    const user = USERS[(i * 7) % USERS.length] ?? "";
    const messages = [
      `request ${i} took ${i % 97} ms`,
      `session opened for user ${user} by (uid=${i % 3})`,
      `connection from 10.0.${i % 256}.${(i * 3) % 256}:${1000 + i} closed`,
      `job_${i}_m_${i % 5} moved /var/data/${(i * 2654435761).toString(16)} to /tmp/x${i}`,
      "disk is full",
      i % 2 === 0 ? `überlauf in Modul ${i} 🔥` : "",
      `{"event":"paid","order":"${"0123456789abcdef".charAt(i % 16)}${i}f-00","amount":${i}}`,
    ];
    return {
      message: messages[i % messages.length] ?? "",
      tsMs: FROM_MS - 6 * HOUR_MS + ((i * 7919) % (12 * HOUR_MS)),
      level: LEVELS[i % LEVELS.length] ?? "",
      service: SERVICES[i % SERVICES.length] ?? "",
    };
  });
}

describe("counts are those of every matching entry", () => {
  const entries = someEntries(5000);
  const current = entries.filter(({ tsMs }) => tsMs >= FROM_MS && tsMs <= TO_MS);
  let organizationId: number;
  beforeAll(async () => {
    organizationId = await write(entries);
  });

  test("as if each message had been mined", async () => {
    const answer = await app.patterns(organizationId, { ...WINDOW, limit: "200" });
    const expected = minedCounts(entries.map(({ message }) => message));
    expect(new Set(answer.patterns.map(({ pattern }) => pattern))).toEqual(new Set(expected.keys()));
    for (const { pattern, count, previousCount } of answer.patterns)
      expect([pattern, count + previousCount]).toEqual([pattern, expected.get(pattern) ?? 0]);
    expect(answer.total).toBe(current.length);
    expect(answer.previousTotal).toBe(entries.length - current.length);
    expect(countedTotal(answer)).toBe(answer.total);
    expect(answer.sampled).toBe(false);
    expect(answer.patterns.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
  });

  test("times, levels, services and trend of a pattern are those of its entries", async () => {
    const answer = await app.patterns(organizationId, WINDOW);
    const requests = current.filter(({ message }) => message.startsWith("request "));
    const pattern = answer.patterns.find((candidate) => candidate.pattern === "request <*> took <*> ms");
    expect(pattern?.count).toBe(requests.length);
    const times = requests.map(({ tsMs }) => tsMs);
    expect(Date.parse(pattern?.firstSeen ?? "")).toBe(Math.min(...times));
    expect(Date.parse(pattern?.lastSeen ?? "")).toBe(Math.max(...times));
    for (const field of ["level", "service"] as const) {
      const found = pattern?.[`${field}s`] ?? [];
      for (const { value, count } of found)
        expect([value, count]).toEqual([
          value,
          requests.filter((entry) => entry[field] === (value ?? "")).length,
        ]);
      expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(requests.length);
    }
    expect(pattern?.trend).toHaveLength(24);
    const quarterHour = (TO_MS - FROM_MS) / 24;
    pattern?.trend.forEach((count, i) => {
      const expected = times.filter((time) => Math.floor((time - FROM_MS) / quarterHour) === i).length;
      expect(Math.abs(count - expected)).toBeLessThanOrEqual(1);
    });
    expect(pattern?.trend.reduce((sum, count) => sum + count, 0)).toBe(requests.length);
    const written = new Set(requests.map(({ message }) => message));
    expect(pattern?.samples.length).toBe(3);
    for (const sample of pattern?.samples ?? []) expect(written.has(sample)).toBe(true);
  });

  test("patterns beyond the limit are counted together", async () => {
    const all = await app.patterns(organizationId, WINDOW);
    const two = await app.patterns(organizationId, { ...WINDOW, limit: "2" });
    expect(two.patterns).toEqual(all.patterns.slice(0, 2));
    expect(two.other.patterns).toBe(all.patterns.length - 2);
    expect(two.total).toBe(all.total);
    expect(countedTotal(two)).toBe(two.total);
  });

  test("filters restrict what is counted", async () => {
    const errors = await app.patterns(organizationId, {
      ...WINDOW,
      level: "error",
      service: "api",
      q: "request",
    });
    const expected = current.filter(
      ({ level, service, message }) => level === "error" && service === "api" && message.includes("request"),
    );
    expect(errors.total).toBe(expected.length);
    expect(errors.patterns.map(({ pattern }) => pattern)).toEqual(["request <*> took <*> ms"]);
  });

  test("the time given belongs to the window at both ends, to the nanosecond", async () => {
    const id = await write(
      [FROM_MS - 1, FROM_MS, TO_MS, TO_MS + 1].map((tsMs) => ({ message: "tick", tsMs })),
    );
    const answer = await app.patterns(id, WINDOW);
    expect([answer.total, answer.previousTotal]).toEqual([2, 1]);
    expect(answer.patterns[0]?.trend.at(0)).toBe(1);
    expect(answer.patterns[0]?.trend.at(-1)).toBe(1);
  });
});

test("patterns that are new and those that are no more are told from the time before", async () => {
  const before = FROM_MS - HOUR_MS;
  const organizationId = await write([
    { message: "still 1 here", tsMs: before },
    { message: "still 2 here", tsMs: FROM_MS + 1 },
    { message: "gone 3 away", tsMs: before },
    { message: "gone 4 away", tsMs: before + 1 },
    { message: "fresh 5 came", tsMs: FROM_MS + 2 },
    { message: "older than that", tsMs: FROM_MS - 7 * HOUR_MS },
  ]);
  const answer = await app.patterns(organizationId, WINDOW);
  expect(
    answer.patterns.map(({ pattern, new: isNew, previousCount }) => [pattern, isNew, previousCount]),
  ).toEqual([
    ["fresh <*> came", true, 0],
    ["still <*> here", false, 1],
  ]);
  expect(answer.vanished).toEqual([
    { pattern: "gone <*> away", previousCount: 2, lastSeen: "2026-03-01T11:00:00.001Z" },
  ]);
});

test("without times the last day is looked at", async () => {
  const organizationId = await write([
    { message: "young", tsMs: NOW_MS - HOUR_MS },
    { message: "old", tsMs: NOW_MS - 25 * HOUR_MS },
    { message: "future", tsMs: NOW_MS + HOUR_MS },
  ]);
  const answer = await app.patterns(organizationId);
  expect(answer.patterns.map(({ pattern }) => pattern)).toEqual(["young"]);
  expect(answer.vanished.map(({ pattern }) => pattern)).toEqual(["old"]);
  expect([answer.from, answer.to]).toEqual(["2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z"]);
});

test("nobody sees the entries of another organization", async () => {
  const mine = await write([{ message: "mine 1", tsMs: FROM_MS }]);
  const theirs = await write([{ message: "theirs 1", tsMs: FROM_MS }]);
  expect((await app.patterns(mine, WINDOW)).patterns.map(({ pattern }) => pattern)).toEqual(["mine <*>"]);
  expect((await app.patterns(theirs, WINDOW)).patterns.map(({ pattern }) => pattern)).toEqual(["theirs <*>"]);
  const nobody = await app.patterns(organizations++, WINDOW);
  expect([nobody.total, nobody.patterns.length, nobody.vanished.length]).toEqual([0, 0, 0]);
});

test("any message is counted: empty, as long as can be, of thousands of tokens, in any script", async () => {
  const messages = [
    "",
    " ",
    "x".repeat(8192),
    "1 ".repeat(4096),
    "a=b,".repeat(2048),
    "слово ".repeat(1365),
    `${"ab ".repeat(2000)}1`,
    `${"ab ".repeat(2000)}2`,
    "'; DROP TABLE logs; --",
    "\\0\\x27\u0000\u0001{p1:String}",
    "日本語のログ 5",
    "日本語のログ 6",
    "(other)",
  ];
  const organizationId = await write(messages.map((message, i) => ({ message, tsMs: FROM_MS + i })));
  const answer = await app.patterns(organizationId, { ...WINDOW, limit: "200" });
  expect(answer.total).toBe(messages.length);
  expect(countedTotal(answer)).toBe(messages.length);
  const counts = new Map(answer.patterns.map(({ pattern, count }) => [pattern, count]));
  expect(counts.get("日本語のログ <*>")).toBe(2);
  expect(counts.get("'; DROP TABLE logs; --")).toBe(1);
  expect(answer.patterns.every(({ pattern }) => pattern.length <= 8192)).toBe(true);
});

test("a real number as a term of the query leaves the entries that have it", async () => {
  const organizationId = await write(
    ["took 1.5 s", "started 1.5", "has 1000.0", "has 0.0", "none"].map((message, i) => ({
      message,
      tsMs: FROM_MS + i,
    })),
  );
  for (const [query, total] of [
    ["1.5", 2],
    ["real(1.5)", 2],
    ["1e3", 1],
    ["0.0", 1],
    ["not(1.5)", 3],
    ['1.5 and message has "started"', 1],
  ] as const)
    expect([query, (await app.patterns(organizationId, { ...WINDOW, query })).total]).toEqual([query, total]);
});

test("a request that is not in order is refused", async () => {
  for (const parameters of [
    { limit: "0" },
    { limit: "201" },
    { from: "yesterday" },
    { from: WINDOW.to, to: WINDOW.from },
    { level: "loud" },
    { q: "x".repeat(1025) },
    { bucket: "5" },
  ])
    expect((await app.ask(organizations, parameters)).status).toBe(400);
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type LogApp, logApp } from "./log-app.ts";
import { idAt, insertRows, type StoredRow } from "./stored-rows.ts";

let stores: TestStores;
let app: LogApp;
let lastOrganization = 5000;
const NOW_MS = Date.parse("2026-03-01T12:00:00Z");

beforeAll(async () => {
  stores = await openTestStores();
  app = logApp(stores);
});
afterAll(() => stores.close());

const LEVELS = ["", "info", "warn", "error"];
const SERVICES = ["", "api", "worker"];
const MESSAGES = [
  "request done",
  "Timeout of upstream",
  "disk is full, Request failed",
  "timeouts",
  'a "quoted"\nline',
];
const STATUSES = ["", "200", "500", "503"];

interface Row {
  second: number;
  level: string;
  service: string;
  message: string;
  status: string;
  user: string;
}

interface Condition {
  readonly kql: string;
  readonly matches: (row: Row) => boolean;
}

const CONDITIONS: readonly Condition[] = [
  { kql: "", matches: () => true },
  { kql: 'level == "error"', matches: ({ level }) => level === "error" },
  { kql: 'service != "api"', matches: ({ service }) => service !== "api" },
  { kql: "status >= 500", matches: ({ status }) => Number(status) >= 500 },
  { kql: 'message has "timeout"', matches: ({ message }) => /(?<!\w)timeout(?!\w)/i.test(message) },
  { kql: 'logs | where user == "ana"', matches: ({ user }) => user === "ana" },
  {
    kql: 'message contains "request" or level in ("warn", "info")',
    matches: ({ message, level }) => /request/i.test(message) || level === "warn" || level === "info",
  },
];

const row = fc.record({
  second: fc.integer({ min: -400, max: 400 }),
  level: fc.constantFrom(...LEVELS),
  service: fc.constantFrom(...SERVICES),
  message: fc.constantFrom(...MESSAGES),
  status: fc.constantFrom(...STATUSES),
  user: fc.constantFrom("", "ana", "bo"),
});

const filter = fc.record({
  q: fc.constantFrom("", "timeout", "request -failed", '"is full" OR done'),
  service: fc.constantFrom(undefined, "api", "worker"),
  level: fc.constantFrom(undefined, "info", "error"),
  condition: fc.constantFrom(...CONDITIONS),
  from: fc.option(fc.integer({ min: -300, max: 0 }), { nil: undefined }),
  to: fc.option(fc.integer({ min: 0, max: 300 }), { nil: undefined }),
});
type Filter = typeof filter extends fc.Arbitrary<infer T> ? T : never;

const MATCHES_Q: Readonly<Record<string, (message: string) => boolean>> = {
  "": () => true,
  timeout: (message) => /timeout/i.test(message),
  "request -failed": (message) => /request/i.test(message) && !/failed/i.test(message),
  '"is full" OR done': (message) => /is full|done/i.test(message),
};

function isMeant(row: Row, { q, service, level, condition, from, to }: Filter): boolean {
  return (
    (service === undefined || row.service === service) &&
    (level === undefined || row.level === level) &&
    (from === undefined || row.second >= from) &&
    (to === undefined || row.second <= to) &&
    (MATCHES_Q[q]?.(row.message) ?? false) &&
    condition.matches(row)
  );
}

const timeOf = (second: number): string => new Date(NOW_MS + second * 1000).toISOString();

function parametersOf({ q, service, level, condition, from, to }: Filter): Record<string, string> {
  return {
    q,
    query: condition.kql,
    ...(service !== undefined && { service }),
    ...(level !== undefined && { level }),
    ...(from !== undefined && { from: timeOf(from) }),
    ...(to !== undefined && { to: timeOf(to) }),
  };
}

async function answer<T>(
  organizationId: number,
  path: string,
  parameters: Record<string, string>,
): Promise<T> {
  const response = await app.get(organizationId, path, parameters);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} ${response.status}: ${text}`);
  return JSON.parse(text);
}

interface Histogram {
  buckets: {
    start: string;
    count: number;
    groups: { value: string | null; count: number }[];
    other: number;
  }[];
  bucketSec: number;
  total: number;
}
interface Facets {
  facets: { field: string; values: { value: string; count: number }[]; other: number; missing: number }[];
  total: number;
}

/** Different texts, the most frequent first, and those that are as frequent by their letters. */
function mostFrequent(texts: readonly string[]): string[] {
  const counts = [...Map.groupBy(texts, (text) => text)].map(([text, { length }]) => ({ text, length }));
  return counts.toSorted((a, b) => b.length - a.length || (a.text < b.text ? -1 : 1)).map(({ text }) => text);
}

function countsOf(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) if (value !== "") counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

describe("search, histogram, facets and export", () => {
  test("agree with each other and with the entries, whatever they are and whatever is asked", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 60 }),
        fc.array(filter, { minLength: 3, maxLength: 3 }),
        async (rows, filters) => {
          const organizationId = ++lastOrganization;
          await insertRows(
            stores.clickhouse,
            rows.map(
              ({ second, level, service, message, status, user }, i): StoredRow => ({
                organizationId,
                ts: BigInt(NOW_MS + second * 1000) * 1_000_000n,
                id: idAt(NOW_MS, i),
                level,
                service,
                message,
                attrs: [
                  ...(status === "" ? [] : ([["status", status]] as const)),
                  ...(user === "" ? [] : ([["user", user]] as const)),
                ],
                jsonKeys: status === "" ? [] : ["status"],
              }),
            ),
          );
          for (const asked of filters) {
            const meant = rows
              .map((entry, i) => ({ ...entry, id: idAt(NOW_MS, i) }))
              .filter((entry) => isMeant(entry, asked))
              .sort((a, b) => b.second - a.second || Number(b.id - a.id));
            const parameters = parametersOf(asked);
            const page = await app.page(organizationId, { ...parameters, limit: "1000" });
            const ids = meant.map(({ id }) => id.toString());
            expect(page.entries.map(({ id }) => id)).toEqual(ids);
            expect(page.total).toBe(ids.length);

            for (const groupBy of ["user", "level"] as const) {
              const histogram = await answer<Histogram>(organizationId, "histogram", {
                ...parameters,
                groupBy,
              });
              expect(histogram.total).toBe(ids.length);
              const widthMs = histogram.bucketSec * 1000;
              for (const [i, { start, count, groups, other }] of histogram.buckets.entries()) {
                const startMs = Date.parse(start);
                const inside = meant.filter(({ second }) => {
                  const ms = NOW_MS + second * 1000;
                  return ms >= startMs && ms < startMs + widthMs;
                });
                expect(count).toBe(inside.length);
                expect(other + groups.reduce((sum, group) => sum + group.count, 0)).toBe(count);
                for (const { value, count: grouped } of groups)
                  expect(grouped).toBe(inside.filter((entry) => entry[groupBy] === (value ?? "")).length);
                if (i > 0) expect(startMs - Date.parse(histogram.buckets[i - 1]?.start ?? "")).toBe(widthMs);
              }
              const shown = histogram.buckets[0]?.groups.map(({ value }) => value ?? "") ?? [];
              expect(shown).toEqual(
                mostFrequent(meant.map((entry) => entry[groupBy])).slice(0, shown.length),
              );
              if (groupBy === "level")
                expect(shown).toHaveLength(new Set(meant.map(({ level }) => level)).size);
            }

            const facets = await answer<Facets>(organizationId, "facets", {
              ...parameters,
              fields: "level,service,status,user",
            });
            expect(facets.total).toBe(ids.length);
            for (const { field, values, other, missing } of facets.facets) {
              expect(other).toBe(0);
              const present = values.reduce((sum, { count }) => sum + count, 0);
              expect(present + missing).toBe(ids.length);
              const texts = meant.map((entry) => String(new Map(Object.entries(entry)).get(field)));
              expect(Object.fromEntries(values.map(({ value, count }) => [value, count]))).toEqual(
                countsOf(texts),
              );
            }

            const exported = await app.get(organizationId, "export", parameters);
            const lines = (await exported.text()).split("\n").filter((line) => line !== "");
            expect(lines.map((line) => JSON.parse(line).id)).toEqual(ids);
          }
        },
      ),
      { numRuns: 15 },
    );
  });
});

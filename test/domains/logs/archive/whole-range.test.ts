import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import fc from "fast-check";
import { hotIds, makeOrganization, NOW_MS, testArchiver, unitsOf } from "../../../archive/archive-setup.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { insertRows } from "../stored-rows.ts";
import { archiveApp } from "./archive-app.ts";
import { fortyDays, kqlQuery, searchParameters, timeRange } from "./forty-days.ts";

const temporary = temporaryDirectory();
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
beforeEach(() => stores.clickhouse.command({ query: "TRUNCATE TABLE logs" }));
afterAll(async () => {
  await stores.close();
  temporary[Symbol.dispose]();
});

type App = ReturnType<typeof archiveApp>;

/** What differs between two equal answers, and what an order leaves open. */
async function answerOf(app: App, response: Response): Promise<unknown> {
  const text = await response.text();
  if (response.status !== 200)
    throw new Error(`${response.status}: ${text} ${JSON.stringify(app.logged().at(-1))}`);
  if (response.headers.get("content-type")?.includes("ndjson")) return text;
  const { stats: _stats, nextCursor, ...rest } = JSON.parse(text);
  if (Array.isArray(rest.rows)) rest.rows = rest.rows.map((row: unknown) => JSON.stringify(row)).sort();
  return { ...rest, hasMore: nextCursor !== null };
}

async function everyPage(
  app: App,
  organization: number,
  parameters: Record<string, string>,
): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await app.page("search", organization, { ...parameters, ...(cursor !== "" && { cursor }) });
    ids.push(...page.entries.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  return ids;
}

const question = fc.oneof(
  fc.record({ kind: fc.constant("query" as const), kql: kqlQuery, range: timeRange }),
  fc.record({
    kind: fc.constantFrom(
      "search",
      "export",
      "histogram",
      "histogram?groupBy=service",
      "histogram?groupBy=level",
      "facets?fields=level,user",
      "fields",
      "patterns",
      "pages",
    ),
    parameters: searchParameters,
    limit: fc.integer({ min: 1, max: 60 }),
  }),
);
type Question = typeof question extends fc.Arbitrary<infer T> ? T : never;

function ask(app: App, organization: number, asked: Question): Promise<unknown> {
  if ("kql" in asked) {
    const { kql, range } = asked;
    return app.query(organization, { query: kql, ...range }).then((response) => answerOf(app, response));
  }
  const { kind, parameters, limit } = asked;
  if (kind === "pages") return everyPage(app, organization, { ...parameters, limit: String(limit) });
  const [path = "", more = ""] = kind.split("?");
  const all = {
    ...parameters,
    ...Object.fromEntries(new URLSearchParams(more)),
    ...(kind === "search" && { limit: String(limit) }),
    ...(kind === "patterns" && { to: parameters.to ?? new Date(NOW_MS).toISOString() }),
  };
  return app.get(path, organization, all).then((response) => answerOf(app, response));
}

test("whatever is asked has the same answer wherever the border between log store and archive is", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(question, { minLength: 25, maxLength: 25 }),
      fc.uniqueArray(fc.integer({ min: 1, max: 38 }), { minLength: 2, maxLength: 2 }),
      async (questions, borders) => {
        await stores.clickhouse.command({ query: "TRUNCATE TABLE logs" });
        const organization = await makeOrganization(stores);
        const stranger = await makeOrganization(stores);
        const rows = fortyDays(organization, 12);
        await insertRows(stores.clickhouse, [...rows, ...fortyDays(stranger, 3)]);
        const files = testArchiver(stores, temporary.path).files;
        const app = archiveApp(stores, files);
        const before: unknown[] = [];
        for (const asked of questions) before.push(await ask(app, organization, asked));
        for (const days of borders.toSorted((a, b) => b - a)) {
          await testArchiver(stores, temporary.path, { defaultDays: days }).run();
          expect((await unitsOf(stores, organization)).map(({ state }) => state)).not.toContain("planned");
          for (const [i, asked] of questions.entries()) {
            const after = await ask(app, organization, asked);
            expect({ days, asked, after }).toEqual({ days, asked, after: before[i] });
          }
        }
        expect((await hotIds(stores, organization)).length).toBeLessThan(rows.length);
      },
    ),
    { numRuns: 2, endOnFailure: true },
  );
});

test("an archived entry is found by its id, with its neighbours on both sides of the border", async () => {
  const organization = await makeOrganization(stores);
  const stranger = await makeOrganization(stores);
  const rows = fortyDays(organization, 4, [40, 39, 24, 5]);
  await insertRows(stores.clickhouse, rows);
  const { files } = testArchiver(stores, temporary.path);
  const app = archiveApp(stores, files);
  const asked = rows.filter((_, i) => i % 11 === 0).map(({ id }) => id.toString());
  const read = async (id: string) => [
    await (await app.get(id, organization)).text(),
    await (await app.get(`${id}/context`, organization, { before: "9", after: "13" })).text(),
    await (await app.get(`${id}/context`, organization, { sameService: "true" })).text(),
  ];
  const before: string[][] = [];
  for (const id of asked) before.push(await read(id));
  await testArchiver(stores, temporary.path, { defaultDays: 20 }).run();
  for (const [i, id] of asked.entries()) {
    expect(await read(id)).toEqual(before[i] ?? []);
    expect((await app.get(id, stranger)).status).toBe(404);
    expect((await app.get(`${id}/context`, stranger)).status).toBe(404);
  }
  const never = (BigInt(asked[0] ?? "0") + 999n).toString();
  expect((await app.get(never, organization)).status).toBe(404);
});

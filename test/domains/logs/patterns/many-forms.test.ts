import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { type PatternApp, patternApp } from "./pattern-app.ts";

const NOW_MS = Date.parse("2026-03-02T00:00:00Z");
const ROWS = 60_000;

let stores: TestStores;
let app: PatternApp;

beforeAll(async () => {
  stores = await openTestStores();
  app = patternApp(stores, () => NOW_MS);
});
afterAll(() => stores.close());

/** Letters that differ for each row. */
const WORD = "translate(lower(hex(cityHash64(number))), '0123456789', 'ghijklmnop')";

/** Entries of the organization, one for each number below `rows`, with the message that the SQL gives. */
async function fill(organizationId: number, message: string, rows = ROWS): Promise<void> {
  await stores.clickhouse.command({
    query: `INSERT INTO logs (organization_id, ts, id, received_at, level, service, message)
      SELECT ${organizationId}, toDateTime64('2026-03-01 06:00:00', 9, 'UTC') + number * 60000 / ${rows} / 10, number, toDateTime64('2026-03-01 06:00:00', 3, 'UTC'),
        'info', 'api', ${message} FROM numbers(${rows})`,
  });
}

async function countsOf(organizationId: number): Promise<Map<string, number>> {
  const answer = await app.patterns(organizationId, { limit: "200" });
  expect(answer.total).toBe(ROWS);
  const shown = answer.patterns.reduce((sum, { count }) => sum + count, 0);
  expect(shown + answer.other.count).toBe(ROWS);
  for (const { trend, levels, services, count } of answer.patterns) {
    expect(trend.reduce((sum, part) => sum + part, 0)).toBe(count);
    expect(levels).toEqual([{ value: "info", count }]);
    expect(services).toEqual([{ value: "api", count }]);
  }
  return new Map(answer.patterns.map(({ pattern, count }) => [pattern, count]));
}

test("words that differ everywhere are values of one pattern, frequent patterns beside them are exact", async () => {
  await fill(
    1,
    `if(number % 3 = 0, concat('request ', toString(number), ' took ', toString(number % 90), ' ms'),
      concat('account ', ${WORD}, ' was moved to the archive'))`,
  );
  const counts = await countsOf(1);
  expect(counts.get("request <*> took <*> ms")).toBe(ROWS / 3);
  expect(counts.get("account <*> was moved to the archive")).toBe((ROWS * 2) / 3);
});

test("messages without anything in common are counted as others", async () => {
  await fill(2, `concat(${WORD}, repeat(concat(' ', ${WORD}), number % 40), if(number % 2 = 0, '!', '?'))`);
  const counts = await countsOf(2);
  expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
});

test("messages of nothing but different signs are one kind in the end", async () => {
  await fill(
    3,
    `concat(${WORD}, arrayStringConcat(arrayMap(i -> char(33 + cityHash64(number, i) % 15), range(40))))`,
  );
  expect((await countsOf(3)).get("(other)")).toBeGreaterThan(ROWS / 2);
});

test("more forms than there is memory for are counted by kind", async () => {
  const rows = 400_000;
  await fill(4, `concat('account ', ${WORD}, ' was moved')`, rows);
  const little = patternApp(stores, () => NOW_MS, 32 * 2 ** 20);
  const answer = await little.patterns(4);
  expect(answer.total).toBe(rows);
  expect(answer.patterns.reduce((sum, { count }) => sum + count, answer.other.count)).toBe(rows);
});

test("a message that occurs once is not shown beside thousands like it", async () => {
  await fill(5, `concat('feedback: ', ${WORD}, repeat(concat(' ', ${WORD}), number % 40))`);
  const answer = await app.patterns(5, { limit: "200" });
  expect(answer.patterns.filter(({ count }) => count === 1)).toEqual([]);
  expect(answer.patterns.map(({ pattern }) => pattern)).toContain("(other)");
});

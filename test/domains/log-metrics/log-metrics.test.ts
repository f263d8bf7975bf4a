import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Registry } from "prom-client";
import { firstLogIdAt, LOG_ID_STEP } from "../../../ingest/index.ts";
import { INTERACTIVE_BUDGET } from "../../../query/index.ts";
import { logMetricRoutes } from "../../../src/domains/log-metrics/routes.ts";
import { createLogger } from "../../../src/log.ts";
import { PastCounting } from "../../../src/rules/past/past-counting.ts";
import { CounterFinder } from "../../../src/rules/seal/counter-finder.ts";
import { sealMetrics } from "../../../src/rules/seal/seal-metrics.ts";
import { Sealer } from "../../../src/rules/seal/sealer.ts";
import { StoredMarks } from "../../../src/rules/seal/stored-marks.ts";
import { takeNumber } from "../../../src/storage/instance/instance-store.ts";
import { type TestApp, testApp } from "../../harness/http-app.ts";
import { testLedger } from "../../harness/ledger.ts";
import { logRanges } from "../../harness/log-ranges.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../../query/query-store.ts";
import { insertRows } from "../logs/stored-rows.ts";

const PATH = "/api/v1/log-metrics";
const NOW_MS = Date.UTC(2026, 2, 1, 12);
const NEVER = new AbortController().signal;
const MINUTE_MS = 60_000;

let stores: TestStores;
let app: TestApp;
let sealer: Sealer;
let past: PastCounting;
let marks: StoredMarks;
let nextId: bigint;
let own: number;
let foreign: number;

beforeAll(async () => {
  stores = await openTestStores();
  own = await makeOrganization("own");
  foreign = await makeOrganization("foreign");
  const sql = stores.postgres;
  const signals = { endpoint: stores.clickhouseEndpoint, settle: async () => undefined };
  const ranges = logRanges(stores);
  const now = () => NOW_MS;
  const log = createLogger("silent");
  app = testApp(
    logMetricRoutes({
      sql,
      signals,
      ranges,
      budget: INTERACTIVE_BUDGET,
      now,
      onCounterMade: () => undefined,
    }),
    { ledger: testLedger(sql) },
  );
  const holder = { id: crypto.randomUUID(), place: "here" };
  const instance = (await takeNumber(sql, holder, NOW_MS)) ?? 0;
  nextId = firstLogIdAt(NOW_MS, instance);
  marks = new StoredMarks();
  sealer = new Sealer({
    ...{ sql, signals, marks, now, log },
    finders: [
      new CounterFinder({
        ...{ sql, endpoint: stores.clickhouseEndpoint, runner: queryRunner(stores), few: 0 },
        ...{ onChanged: () => undefined, log },
      }),
    ],
    sealing: { holder: holder.id, place: "here" },
    isRecovered: () => true,
    isDrained: () => true,
    metrics: sealMetrics(new Registry()),
  });
  past = new PastCounting({ sql, signals, ranges, now, log });
});
afterAll(() => stores.close());

async function makeOrganization(name: string): Promise<number> {
  const [row] = await stores.postgres<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES (${name}, now()) RETURNING id`;
  return row?.id ?? 0;
}

interface Entry {
  readonly message: string;
  readonly level?: string;
  readonly service?: string;
  readonly minutesAgo?: number;
  readonly organizationId?: number;
}

async function store(...entries: readonly Entry[]): Promise<void> {
  const rows = entries.map(({ minutesAgo = 0, organizationId = own, ...entry }) => {
    const id = nextId;
    nextId += BigInt(LOG_ID_STEP);
    return { ...entry, organizationId, id, ts: BigInt(NOW_MS - minutesAgo * MINUTE_MS) * 1_000_000n };
  });
  await insertRows(stores.clickhouse, rows);
  for (const { id } of rows) marks.stored(id);
}

async function seal(): Promise<void> {
  while (await sealer.workOnce(NEVER));
  await past.workOnce(NEVER);
}

async function send(method: string, path: string, json?: unknown, organization = own) {
  const as = `member/*/1/${organization}`;
  const response = await app.send(method, path, { as, ...(json !== undefined && { json }) });
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text) };
}

async function make(fields: Record<string, unknown>): Promise<number> {
  const { status, body } = await send("POST", PATH, { name: "a metric", ...fields });
  expect(status).toBe(201);
  return body.id;
}

interface Point {
  readonly start: string;
  readonly value: number;
}

/** Starts, as minutes before the present, with what was counted in them; without those of nothing. */
async function series(id: number, query = ""): Promise<unknown> {
  const { body } = await send("GET", `${PATH}/${id}/series${query}`);
  const points: Point[] = body.points;
  return points
    .filter(({ value }) => value !== 0)
    .map(({ start, value }) => [(NOW_MS - Date.parse(start)) / MINUTE_MS, value]);
}

async function signalsOf(organization: number): Promise<number> {
  const answer = await stores.clickhouse.query({
    query: "SELECT count() FROM signals WHERE organization_id = {organization: UInt32}",
    query_params: { organization },
    format: "JSONCompactEachRow",
  });
  const [[rows] = [0]] = await answer.json<[number | string]>();
  return Number(rows);
}

describe("a log metric", () => {
  test("counts by its words, its service and its level, before it is counted and afterwards", async () => {
    await store(
      { message: "payment 1 failed", level: "error", service: "shop", minutesAgo: 5 },
      { message: "payment 2 failed", level: "warn", service: "shop", minutesAgo: 5 },
      { message: "payment 3 failed", level: "error", service: "mill", minutesAgo: 4 },
      { message: "payment 4 paid", level: "error", service: "shop", minutesAgo: 3 },
    );
    const words = await make({ query: "failed" });
    const narrow = await make({ query: "failed", service: "shop", level: "error" });
    const all = await make({});
    const expected = async (): Promise<void> => {
      expect(await series(words)).toEqual([
        [5, 2],
        [4, 1],
      ]);
      expect(await series(narrow)).toEqual([[5, 1]]);
      expect(await series(all)).toEqual([
        [5, 2],
        [4, 1],
        [3, 1],
      ]);
    };
    await expected();
    await seal();
    await expected();
    expect(await signalsOf(own)).toBeGreaterThan(0);
    await store({ message: "payment 5 failed", level: "error", service: "shop", minutesAgo: 5 });
    expect(await series(narrow)).toEqual([[5, 2]]);
    await seal();
    expect(await series(narrow)).toEqual([[5, 2]]);
    expect(await series(words)).toEqual([
      [5, 3],
      [4, 1],
    ]);
  });

  test("shows nothing of another organisation, and counts nothing for it", async () => {
    const before = await signalsOf(foreign);
    const id = await make({ query: "secret" });
    await store({ message: "secret", organizationId: foreign }, { message: "secret" });
    await seal();
    expect(await series(id)).toEqual([[0, 1]]);
    expect(await signalsOf(foreign)).toBe(before);
    expect((await send("GET", `${PATH}/${id}`, undefined, foreign)).status).toBe(404);
    expect((await send("GET", `${PATH}/${id}/series`, undefined, foreign)).status).toBe(404);
  });

  test("with another filter counts anew, from the first entry on; one that rests answers from the entries", async () => {
    await store({ message: "apples", minutesAgo: 2 }, { message: "pears", minutesAgo: 1 });
    const id = await make({ query: "apples" });
    await seal();
    expect(await series(id)).toEqual([[2, 1]]);
    expect((await send("PATCH", `${PATH}/${id}`, { query: "pears" })).status).toBe(200);
    expect(await series(id)).toEqual([[1, 1]]);
    await seal();
    expect(await series(id)).toEqual([[1, 1]]);
    expect((await send("PATCH", `${PATH}/${id}`, { enabled: false })).body).toMatchObject({ enabled: false });
    await store({ message: "pears" });
    await seal();
    expect(await series(id)).toEqual([
      [1, 1],
      [0, 1],
    ]);
    expect((await send("PATCH", `${PATH}/${id}`, { enabled: true, name: "pears" })).status).toBe(200);
    await seal();
    expect(await series(id)).toEqual([
      [1, 1],
      [0, 1],
    ]);
    expect((await send("DELETE", `${PATH}/${id}`)).status).toBe(204);
    expect((await send("GET", `${PATH}/${id}`)).status).toBe(404);
  });

  test("has wider buckets that are the sum of the narrow ones, and whole ones at both ends", async () => {
    const id = await make({ query: "wide", bucketSec: 300 });
    await store(...[0, 1, 4, 5, 9, 61].map((minutesAgo) => ({ message: "wide", minutesAgo })));
    await seal();
    const at = (minutesAgo: number): string => new Date(NOW_MS - minutesAgo * MINUTE_MS).toISOString();
    expect(await series(id)).toEqual([
      [65, 1],
      [10, 1],
      [5, 3],
      [0, 1],
    ]);
    expect(await series(id, "?bucketSec=3600")).toEqual([
      [120, 1],
      [60, 4],
      [0, 1],
    ]);
    expect(await series(id, `?bucketSec=60&from=${at(5)}&to=${at(4)}`)).toEqual([
      [5, 1],
      [4, 1],
    ]);
    const { body } = await send("GET", `${PATH}/${id}/series?from=${at(10)}`);
    expect(body).toMatchObject({ bucketSec: 300, truncated: false });
    expect(body.points).toHaveLength(3);
  });

  test.each([
    ["a query with too many words", { query: "a ".repeat(500) }, "/query"],
    ["a width that is none", { bucketSec: 61 }, "/bucketSec"],
    ["a level that is none", { level: "loud" }, "/level"],
    ["a name that is empty", { name: "" }, "/name"],
  ])("is not made with %s", async (_, fields, path) => {
    const { status, body } = await send("POST", PATH, { name: "a metric", ...fields });
    expect({ status, path: body.fields[0].path }).toEqual({ status: 400, path });
  });

  test.each([
    ["?bucketSec=120", "/bucketSec"],
    ["?from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z", "/from"],
    ["?from=yesterday", "/from"],
  ])("has no series %s", async (query, path) => {
    const id = await make({});
    const { status, body } = await send("GET", `${PATH}/${id}/series${query}`);
    expect({ status, path: body.fields[0].path }).toEqual({ status: 400, path });
  });
});

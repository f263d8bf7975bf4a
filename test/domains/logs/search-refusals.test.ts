import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listen } from "../../../src/http/server.ts";
import { eventually } from "../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type LogApp, logApp } from "./log-app.ts";
import { idAt, insertRows } from "./stored-rows.ts";

const organizationId = 1;
const NOW_MS = Date.now();

/** Long messages, and a search that has to read each of them many times over before it knows that none matches. */
const SLOW_ORGANIZATION = 3;
const LETTERS = [..."вгдежзийклмнопрстуфхцчшщъыьэю"];
const SLOW_TERMS = [...LETTERS, ...LETTERS.map((letter) => `${letter}я`)];
const SLOW_SEARCH = `${SLOW_TERMS.map((term) => `-${term}`).join(" ")} я`;

let stores: TestStores;
let app: LogApp;

beforeAll(async () => {
  stores = await openTestStores();
  app = logApp(stores);
  await insertRows(
    stores.clickhouse,
    Array.from({ length: 20 }, (_, i) => ({
      organizationId,
      ts: BigInt(NOW_MS) * 1_000_000n,
      id: idAt(NOW_MS - 1000, i),
      message: `message ${i}`,
      service: "api",
    })),
  );
  await stores.clickhouse.command({
    query: `INSERT INTO logs (organization_id, ts, id, received_at, message)
      SELECT ${SLOW_ORGANIZATION}, now64(9), number, now64(3), repeat('аб', 500) FROM numbers(40000)`,
  });
});
afterAll(() => stores.close());

interface Refusal {
  code: string;
  fields?: { path: string; code: string }[];
}

async function refusal(response: Response): Promise<[number, string, [string, string][]]> {
  const body: Refusal = JSON.parse(await response.text());
  return [response.status, body.code, (body.fields ?? []).map(({ path, code }) => [path, code])];
}

describe("a search is refused", () => {
  const cases: [string, string, string, string][] = [
    ["an unknown parameter", "pattern=level", "/pattern", "unrecognized_keys"],
    ["a q that is too long", `q=${"a".repeat(1025)}`, "/q", "too_big"],
    ["a q of too many terms", `q=${"a+".repeat(65)}`, "/q", "too_big"],
    ["a service that is too long", `service=${"a".repeat(256)}`, "/service", "too_big"],
    ["an unknown level", "level=notice", "/level", "invalid_literal"],
    ["a level in upper case", "level=ERROR", "/level", "invalid_literal"],
    ["a from that is no date-time", "from=yesterday", "/from", "invalid_string"],
    ["a date alone", "to=2026-01-01", "/to", "invalid_string"],
    ["from after to", "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "/from", "custom"],
    ["a limit of zero", "limit=0", "/limit", "too_small"],
    ["a limit beyond the largest", "limit=1001", "/limit", "too_big"],
    ["a limit that is no number", "limit=ten", "/limit", "invalid_type"],
    ["a cursor that is none", "cursor=abc", "/cursor", "invalid_string"],
    ["an empty cursor", "cursor=", "/cursor", "invalid_string"],
    ["a cursor that is too long", `cursor=${"A".repeat(65)}`, "/cursor", "too_big"],
    ["a forged cursor", `cursor=${"A".repeat(60)}`, "/cursor", "invalid_string"],
  ];
  test.each(cases)("with %s", async (_, query, path, code) => {
    const response = await app.send("GET", `/api/v1/logs/search?${query}`, {
      headers: { "x-organization": String(organizationId) },
    });
    expect(await refusal(response)).toEqual([400, "VALIDATION_FAILED", [[path, code]]]);
  });

  test("with a cursor of other filters or another organization", async () => {
    const parameters = { q: "message", service: "api", limit: "5" };
    const cursor = (await app.page(organizationId, parameters)).nextCursor ?? "";
    expect((await app.search(organizationId, { ...parameters, cursor })).status).toBe(200);
    const others: [number, Record<string, string>][] = [
      [organizationId, { ...parameters, q: "messag" }],
      [organizationId, { ...parameters, level: "info" }],
      [organizationId, { ...parameters, from: "2020-01-01T00:00:00Z" }],
      [organizationId, { service: "api" }],
      [2, parameters],
    ];
    for (const [organization, other] of others)
      expect(await refusal(await app.search(organization, { ...other, cursor }))).toEqual([
        400,
        "VALIDATION_FAILED",
        [["/cursor", "invalid_string"]],
      ]);
  });

  test("when it reads more than the limits allow", async () => {
    const response = await logApp(stores, { queryMaxReadBytes: 1 }).search(organizationId);
    expect(await refusal(response)).toEqual([400, "QUERY_TOO_EXPENSIVE", []]);
  });

  test("when it takes longer than the limits allow", async () => {
    const response = await logApp(stores, { queryTimeoutMs: 100 }).search(3, {
      q: "ж -з -и -й -к -л -м -н -о",
    });
    expect(await refusal(response)).toEqual([504, "QUERY_TIMEOUT", []]);
  });

  test("when the log store is away, with a time to come back", async () => {
    const clickhouseEndpoint = { ...stores.clickhouseEndpoint, origin: "http://127.0.0.1:1" };
    const response = await logApp({ ...stores, clickhouseEndpoint }).search(organizationId);
    expect(response.headers.get("retry-after")).not.toBeNull();
    expect(await refusal(response)).toEqual([503, "UNAVAILABLE", []]);
  });
});

test("no SQL, error text or address of the store reaches the client", async () => {
  const clickhouseEndpoint = { ...stores.clickhouseEndpoint, database: "no_such_database" };
  const response = await logApp({ ...stores, clickhouseEndpoint }).search(organizationId);
  expect(response.status).toBe(500);
  expect(await response.text()).not.toMatch(/select|database|clickhouse|code: \d|127\.0/i);
});

test("a client that goes away stops its query in the store", async () => {
  const listener = listen(app.app, { hostname: "127.0.0.1", port: 0 });
  const controller = new AbortController();
  const started = fetch(`${listener.url}/api/v1/logs/search?${new URLSearchParams({ q: SLOW_SEARCH })}`, {
    headers: { "x-organization": String(SLOW_ORGANIZATION) },
    signal: controller.signal,
  });
  const running = async (): Promise<number> => {
    const result = await stores.clickhouse.query({
      query: `SELECT count() FROM system.processes
        WHERE current_database = {database:String} AND query LIKE '%FROM logs%' AND query NOT LIKE '%system.processes%'`,
      query_params: { database: stores.clickhouseDatabase },
      format: "JSONCompactEachRow",
    });
    const [[count] = []] = await result.json<[string]>();
    return Number(count);
  };
  await eventually("the query runs", async () => (await running()) > 0 || null);
  controller.abort();
  await expect(started).rejects.toThrow();
  await eventually("the query is gone", async () => (await running()) === 0);
  await listener.abort();
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listen } from "../../../src/http/server.ts";
import { eventually } from "../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type LogApp, logApp } from "./log-app.ts";
import { idAt, insertRows, type StoredRow } from "./stored-rows.ts";

let stores: TestStores;
let app: LogApp;
const ORGANIZATION = 6001;
const NOW_MS = Date.parse("2026-03-01T12:00:00Z");
const ENTRIES = 40;

beforeAll(async () => {
  stores = await openTestStores();
  app = logApp(stores);
  await insertRows(
    stores.clickhouse,
    Array.from(
      { length: ENTRIES },
      (_, i): StoredRow => ({
        organizationId: ORGANIZATION,
        ts: BigInt(NOW_MS + i * 1000) * 1_000_000n,
        id: idAt(NOW_MS, i),
        level: i % 4 === 0 ? "error" : "info",
        service: i % 2 === 0 ? "api" : "worker",
        host: `h${i % 3}`,
        message: `=request ${i}, "done"`,
        attrs: [
          ["n", String(i)],
          ["big", "9223372036854775807"],
          ["name", "ana"],
        ],
        jsonKeys: ["n", "big"],
      }),
    ),
  );
});
afterAll(() => stores.close());

/** Reads half a quintillion rows, if it may. */
const HEAVY =
  "range x from 1 to 900000 step 1 | extend k = 1 | join kind=inner (range y from 1 to 900000 step 1 | extend k = 1) on k | summarize sum(x * y)";

async function runs(): Promise<number> {
  const result = await stores.clickhouse.query({
    query:
      "SELECT count() AS c FROM system.processes WHERE query LIKE '%JOIN%' AND query NOT LIKE '%system.processes%' AND current_database = currentDatabase()",
    format: "JSONEachRow",
  });
  const [row] = await result.json<{ c: string }>();
  return Number(row?.c);
}

describe("a query", () => {
  test("answers a table with Kusto's types, every digit and what was asked to be drawn", async () => {
    const response = await app.query(ORGANIZATION, {
      query: `logs | summarize entries = count(), last = max(ts), span = max(ts) - min(ts) by level | extend big = 9223372036854775807, nan = real(nan), inf = real(+inf), nothing = int(null), d = dynamic({"a":[1,2]}), yes = true | sort by entries desc | render piechart`,
    });
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text).toContain("9223372036854775807");
    const body = JSON.parse(text);
    expect(body.columns.slice(0, 5)).toEqual([
      { name: "level", type: "string" },
      { name: "entries", type: "long" },
      { name: "last", type: "datetime" },
      { name: "span", type: "timespan" },
      { name: "big", type: "long" },
    ]);
    expect(body.rows[0].slice(0, 4)).toEqual(["info", 30, "2026-03-01T12:00:39.0000000Z", "00:00:38"]);
    expect(body.rows[0].slice(5)).toEqual(["NaN", "Infinity", null, { a: [1, 2] }, true]);
    expect(body).toMatchObject({ truncated: false, render: { chart: "piechart" } });
    expect(body.stats.rowsRead).toBeGreaterThan(0);
  });

  test("says that there was more than it answers with", async () => {
    const response = await app.query(ORGANIZATION, { query: "range x from 1 to 150000 step 1" });
    const body = JSON.parse(await response.text());
    expect(body.truncated).toBe(true);
    expect(body.rows.length).toBeGreaterThan(90_000);
  });

  test("whose columns depend on the data looks at them first, in the time that is asked for", async () => {
    const response = await app.query(ORGANIZATION, {
      query:
        'datatable(d: dynamic)[dynamic({"b": 1, "a": "x"}), dynamic({"b": 2.5})] | evaluate bag_unpack(d) | order by b asc',
    });
    expect(JSON.parse(await response.text())).toMatchObject({
      columns: [
        { name: "a", type: "string" },
        { name: "b", type: "real" },
      ],
      rows: [
        ["x", 1],
        ["", 2.5],
      ],
    });
  });

  test("that answers several tables says them all", async () => {
    const response = await app.query(ORGANIZATION, {
      query: 'datatable(a: string, b: long)["x", 1, "x", 2] | facet by a, b with (where b > 1)',
    });
    expect(JSON.parse(await response.text())).toMatchObject({
      columns: [{ name: "a" }, { name: "count_a" }],
      rows: [["x", 2]],
      tables: [{ columns: [{ name: "b" }, { name: "count_b" }] }, { rows: [["x", 2]] }],
    });
  });

  test("keeps to the time that is asked for", async () => {
    const response = await app.query(ORGANIZATION, {
      query: "logs | count",
      from: "2026-03-01T12:00:10Z",
      to: "2026-03-01T12:00:19Z",
    });
    expect(JSON.parse(await response.text()).rows).toEqual([[10]]);
  });

  test("that is wrong says where", async () => {
    const refused = await app.query(ORGANIZATION, { query: "logs\n| where levle ==" });
    expect(refused.status).toBe(400);
    expect(JSON.parse(await refused.text())).toMatchObject({
      code: "KQL_INVALID",
      fields: [
        { path: "/query", line: expect.any(Number), column: expect.any(Number), start: expect.any(Number) },
      ],
    });
  });

  test.each(["search", "histogram", "facets", "fields", "export"])(
    "that changes rows is refused by %s, naming the operator",
    async (path) => {
      const refused = await app.get(ORGANIZATION, path, { query: "logs | where n > 1\n| summarize count()" });
      expect(refused.status).toBe(400);
      expect(JSON.parse(await refused.text())).toMatchObject({
        code: "KQL_INVALID",
        fields: [{ path: "/query", line: 2, column: 3, text: "summarize", start: 21, end: 30 }],
      });
    },
  );

  test("that needs too long or too much is refused in its own words", async () => {
    const hasty = logApp(stores, { queryTimeoutMs: 300 });
    const late = await hasty.query(ORGANIZATION, { query: HEAVY });
    expect([late.status, JSON.parse(await late.text()).code]).toEqual([504, "QUERY_TIMEOUT"]);
    const poor = logApp(stores, { queryMaxMemoryBytes: 4_000_000 });
    const large = await poor.query(ORGANIZATION, { query: HEAVY });
    expect([large.status, JSON.parse(await large.text()).code]).toEqual([400, "QUERY_TOO_EXPENSIVE"]);
  });

  test("ends in the store when its client goes away, and tells how far it is until then", async () => {
    const listener = listen(app.app, { hostname: "127.0.0.1", port: 0 });
    const headers = { "x-organization": String(ORGANIZATION), "content-type": "application/json" };
    for (const accept of ["application/json", "text/event-stream"]) {
      const leaving = new AbortController();
      const asked = fetch(`${listener.url}/api/v1/logs/query`, {
        method: "POST",
        headers: { ...headers, accept },
        body: JSON.stringify({ query: HEAVY }),
        signal: leaving.signal,
      });
      asked.catch(() => undefined);
      await eventually("the statement runs", async () => (await runs()) > 0);
      if (accept === "text/event-stream") {
        const reader = (await asked).body?.getReader();
        const first = await reader?.read();
        expect(new TextDecoder().decode(first?.value)).toStartWith('event: progress\ndata: {"rowsRead":');
      }
      leaving.abort();
      await eventually("the statement is gone", async () => (await runs()) === 0);
    }
    await listener.abort();
  });

  test("as events ends with the result or with the error", async () => {
    const accept = { accept: "text/event-stream" };
    const found = await (await app.query(ORGANIZATION, { query: "logs | count" }, accept)).text();
    expect(found).toMatch(/event: result\ndata: \{"columns":.*"rows":\[\[40\]\].*\}\n\n$/);
    const hasty = logApp(stores, { queryTimeoutMs: 300 });
    const late = await (await hasty.query(ORGANIZATION, { query: HEAVY }, accept)).text();
    expect(late).toMatch(/event: error\ndata: \{.*"code":"QUERY_TIMEOUT".*\}\n\n$/);
  });
});

describe("the neighbours of an entry", () => {
  test("are in order, with ties, and of its service alone when asked", async () => {
    const id = idAt(NOW_MS, 20).toString();
    const all = JSON.parse(
      await (await app.get(ORGANIZATION, `${id}/context`, { before: "3", after: "2" })).text(),
    );
    const numbers = (entries: { attrs: { n: number } }[]): number[] => entries.map(({ attrs }) => attrs.n);
    expect([numbers(all.before), all.entry.attrs.n, numbers(all.after)]).toEqual([
      [17, 18, 19],
      20,
      [21, 22],
    ]);
    const same = JSON.parse(
      await (
        await app.get(ORGANIZATION, `${id}/context`, { before: "2", after: "2", sameService: "true" })
      ).text(),
    );
    expect([numbers(same.before), numbers(same.after)]).toEqual([
      [16, 18],
      [22, 24],
    ]);
    expect((await app.get(6002, `${id}/context`)).status).toBe(404);
    expect((await app.get(ORGANIZATION, `${id}/context`, { before: "101" })).status).toBe(400);
  });
});

describe("fields", () => {
  test("are columns and attributes with their types and shares", async () => {
    const { fields, sampledEntries } = JSON.parse(await (await app.get(ORGANIZATION, "fields")).text());
    expect(sampledEntries).toBe(ENTRIES);
    expect(fields).toContainEqual({
      name: "n",
      kind: "attribute",
      types: ["number"],
      count: ENTRIES,
      share: 1,
      examples: ["39", "38", "37"],
      hasColumn: false,
    });
    expect(fields).toContainEqual(
      expect.objectContaining({ name: "traceId", kind: "column", count: 0, share: 0 }),
    );
  });
});

describe("an export", () => {
  test("as CSV quotes what needs it and keeps attributes as they came", async () => {
    const text = await (await app.get(ORGANIZATION, "export", { format: "csv", q: "39" })).text();
    const [header, line] = text.split("\r\n");
    expect(header).toBe("id,ts,receivedAt,level,service,source,host,message,event_id,traceId,spanId,attrs");
    expect(line).toContain(',"=request 39, ""done""",');
    expect(line).toEndWith('"{""n"":39,""big"":9223372036854775807,""name"":""ana""}"');
  });

  test("is whole over many pages, and a failure on the way breaks the connection", async () => {
    const organizationId = 6010;
    const count = 5_000;
    await insertRows(
      stores.clickhouse,
      Array.from(
        { length: count },
        (_, i): StoredRow => ({
          organizationId,
          ts: BigInt(NOW_MS) * 1_000_000n + BigInt(i % 7),
          id: idAt(NOW_MS, i),
          message: `entry ${i} ${"x".repeat(400)}`,
        }),
      ),
    );
    const lines = (await (await app.get(organizationId, "export")).text()).trimEnd().split("\n");
    expect(new Set(lines.map((line) => JSON.parse(line).id)).size).toBe(count);
    expect(lines).toHaveLength(count);

    let answers = 0;
    const broken = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        // How much memory there is, the newest id and the first page pass; then the store is gone.
        if (++answers > 3)
          return new Response("gone", { status: 500, headers: { "x-clickhouse-exception-code": "241" } });
        const { host, port } = new URL(stores.clickhouseUrl);
        const target = new URL(request.url);
        target.host = host;
        target.port = port;
        const { headers } = request;
        const passed = await fetch(target, { method: "POST", headers, body: await request.arrayBuffer() });
        return new Response(await passed.text(), {
          status: passed.status,
          headers: { "x-clickhouse-summary": passed.headers.get("x-clickhouse-summary") ?? "" },
        });
      },
    });
    const proxied = { ...stores.clickhouseEndpoint, origin: `http://127.0.0.1:${broken.port}` };
    const listener = listen(logApp({ ...stores, clickhouseEndpoint: proxied }).app, {
      hostname: "127.0.0.1",
      port: 0,
    });
    const response = await fetch(`${listener.url}/api/v1/logs/export`, {
      headers: { "x-organization": String(organizationId) },
    });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    await listener.abort();
    await broken.stop(true);
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type LogApp, logApp } from "./log-app.ts";
import { idAt, insertRows } from "./stored-rows.ts";

const T0_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const T0 = BigInt(T0_MS) * 1_000_000n;
const SECOND = 1_000_000_000n;

let stores: TestStores;
let app: LogApp;

beforeAll(async () => {
  stores = await openTestStores();
  app = logApp(stores);
});
afterAll(() => stores.close());

/** The messages of a search, in its order. */
async function messages(organizationId: number, parameters: Record<string, string> = {}): Promise<string[]> {
  return (await app.page(organizationId, parameters)).entries.map(({ message }) => message);
}

describe("an entry", () => {
  const organizationId = 100;

  test("comes back with every field, its nanoseconds and its attributes as they were", async () => {
    await insertRows(stores.clickhouse, [
      {
        organizationId,
        ts: T0 + 123_456_789n,
        id: idAt(T0_MS + 5, 17),
        message: 'line one\nline two\t"quoted" \\ back\u0000\u0001\u001b[31m 😀 \ufffd \u2028 é',
        level: "warn",
        service: "api",
        source: "stdout",
        host: "web-1",
        traceId: "0af7651916cd43dd8448eb211c80319c",
        spanId: "b7ad6b7169203331",
        eventId: "e-1",
        attrs: [
          ["text", "12"],
          ["number", "12"],
          ["huge", "123456789012345678901234567890.10"],
          ["yes", "true"],
          ["nothing", ""],
          ["nested", '{"a":[1,9007199254740993,"x"],"b":{}}'],
          ["2", "numeric key"],
          ['odd "key"\n', "\u0000\ud83d\ude00"],
          ["__proto__", "kept"],
        ],
        jsonKeys: ["number", "huge", "yes", "nothing", "nested"],
      },
    ]);
    const response = await app.search(organizationId);
    const text = await response.text();
    expect(response.headers.get("content-type")).toBe("application/json");
    const [entry] = JSON.parse(text).entries;
    expect(entry).toEqual({
      id: idAt(T0_MS + 5, 17).toString(),
      ts: "2026-01-02T03:04:05.123456789Z",
      receivedAt: "2026-01-02T03:04:05.005Z",
      level: "warn",
      service: "api",
      source: "stdout",
      host: "web-1",
      message: 'line one\nline two\t"quoted" \\ back\u0000\u0001\u001b[31m 😀 \ufffd \u2028 é',
      event_id: "e-1",
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      attrs: expect.anything(),
    });
    expect(text).toContain(
      '"attrs":{"2":"numeric key","text":"12","number":12,"huge":123456789012345678901234567890.10,"yes":true,' +
        '"nothing":null,"nested":{"a":[1,9007199254740993,"x"],"b":{}},"odd \\"key\\"\\n":"\\u0000😀"',
    );
  });

  test("says null for what it was sent without", async () => {
    await insertRows(stores.clickhouse, [{ organizationId: 101, ts: T0, id: idAt(T0_MS), message: "bare" }]);
    const { entries } = await app.page(101);
    expect(entries).toEqual([
      {
        id: idAt(T0_MS).toString(),
        ts: "2026-01-02T03:04:05.000Z",
        receivedAt: "2026-01-02T03:04:05.000Z",
        level: null,
        service: null,
        source: null,
        host: null,
        message: "bare",
        event_id: null,
        traceId: null,
        spanId: null,
        attrs: {},
      },
    ]);
  });

  test("has as many digits of fraction as its time needs, before 1970 too", async () => {
    const times: [bigint, string][] = [
      [T0, "2026-01-02T03:04:05.000Z"],
      [T0 + 1_000n, "2026-01-02T03:04:05.000001Z"],
      [T0 + 1n, "2026-01-02T03:04:05.000000001Z"],
      [-1n, "1969-12-31T23:59:59.999999999Z"],
      [-1_500_000_000n, "1969-12-31T23:59:58.500Z"],
    ];
    await insertRows(
      stores.clickhouse,
      times.map(([ts, message], i) => ({ organizationId: 102, ts, id: idAt(T0_MS, i), message })),
    );
    const { entries } = await app.page(102);
    expect(entries.map(({ ts }) => ts)).toEqual(entries.map(({ message }) => message));
  });

  test("is found by its id, and by no other organization", async () => {
    const id = idAt(T0_MS, 3);
    await insertRows(stores.clickhouse, [{ organizationId: 103, ts: T0, id, message: "mine" }]);
    const read = (path: string, organizationId: number) =>
      app.send("GET", `/api/v1/logs/${path}`, { headers: { "x-organization": String(organizationId) } });
    const found = await read(id.toString(), 103);
    expect(found.status).toBe(200);
    expect(await found.json()).toMatchObject({ id: id.toString(), message: "mine" });
    expect((await read(id.toString(), 104)).status).toBe(404);
    for (const path of [
      "0",
      (id + 1n).toString(),
      "18446744073709551615",
      "99999999999999999999",
      "01",
      "-1",
      "x",
    ])
      expect([path, (await read(path, 103)).status]).toEqual([path, 404]);
  });
});

describe("filters", () => {
  const organizationId = 200;
  const rows: [string, string, string][] = [
    ["Failed password for root", "error", "sshd"],
    ["failed PASSWORD for admin", "warn", "sshd"],
    ["Accepted password for root", "info", "sshd"],
    ["GET /index.html 200", "info", "web"],
    ["100% of C:\\temp\\new_file used", "", ""],
  ];
  const texts = rows.map(([message]) => message);
  const [failedRoot = "", failedAdmin = "", accepted = "", get = "", percent = ""] = texts;

  beforeAll(async () => {
    await insertRows(
      stores.clickhouse,
      rows.map(([message, level, service], i) => ({
        organizationId,
        ts: T0 - BigInt(i) * SECOND,
        id: idAt(T0_MS, 100 - i),
        message,
        level,
        service,
      })),
    );
  });

  const cases: [Record<string, string>, string[]][] = [
    [{}, texts],
    [{ q: "" }, texts],
    [{ q: "  " }, texts],
    [{ q: "password failed" }, [failedRoot, failedAdmin]],
    [{ q: '"failed password"' }, [failedRoot, failedAdmin]],
    [{ q: '"password failed"' }, []],
    [{ q: "password -root" }, [failedAdmin]],
    [{ q: 'password -"for root"' }, [failedAdmin]],
    [{ q: "accepted OR get" }, [accepted, get]],
    [{ q: "failed root OR index" }, [failedRoot, get]],
    [{ q: "sswor" }, [failedRoot, failedAdmin, accepted]],
    [{ q: "%" }, [percent]],
    [{ q: "0%" }, [percent]],
    [{ q: "c:\\temp\\new_file" }, [percent]],
    [{ q: "n_w" }, []],
    [{ q: "password", level: "warn" }, [failedAdmin]],
    [{ service: "sshd" }, [failedRoot, failedAdmin, accepted]],
    [{ service: "ssh" }, []],
    [{ service: "' OR 1=1 --" }, []],
    [{ level: "fatal" }, []],
    [{ from: "2026-01-02T03:04:04Z" }, [failedRoot, failedAdmin]],
    [{ to: "2026-01-02T03:04:03Z" }, [accepted, get, percent]],
    [{ from: "2026-01-02T04:04:04+01:00", to: "2026-01-02T03:04:04.000000000Z" }, [failedAdmin]],
    [{ from: "2026-01-02T03:04:03.000000001Z", to: "2026-01-02T03:04:04.999999999Z" }, [failedAdmin]],
    [{ from: "0001-01-01T00:00:00Z", to: "9999-12-31T23:59:59Z" }, texts],
    [{ to: "1234-01-01T00:00:00Z" }, []],
  ];
  test.each(cases)("%j", async (parameters, expected) => {
    expect(await messages(organizationId, parameters)).toEqual(expected);
  });

  test("an organization sees its own entries only, with every filter", async () => {
    for (const [parameters] of cases) expect(await messages(201, parameters)).toEqual([]);
  });
});

import { idAt, type StoredRow, storedText } from "../domains/logs/stored-rows.ts";

/** The organization whose entries the goldens of KQL read. */
export const OWN = 7;
/** Another one, with entries of the same shapes at the same times. */
const FOREIGN = 8;
/** In every text of an entry of another organization, and in no query. */
export const FOREIGN_MARK = "of-somebody-else";

/** A Tuesday; what `now()` answers. */
export const NOW_MS = Date.parse("2026-01-06T00:00:00Z");

interface Entry {
  at: string;
  level?: string;
  service?: string;
  host?: string;
  source?: string;
  traceId?: string;
  spanId?: string;
  eventId?: string;
  message: string;
  attrs?: Readonly<Record<string, unknown>>;
}

/** Three services on a Monday morning, and what is odd: empty fields, nulls, numbers as texts, scripts, far times. */
const ENTRIES: readonly Entry[] = [
  // The Sunday before: another day and another week of Kusto.
  {
    at: "2026-01-04T23:59:59.999999999Z",
    level: "info",
    service: "web",
    host: "h1",
    message: "GET /health 200",
  },
  ...requests("web", [
    ["2026-01-05T10:00:00Z", "h1", "info", "GET", "/api/orders", 200, 12.5, "ada"],
    ["2026-01-05T10:00:10Z", "h1", "info", "GET", "/api/orders", 200, 15, "ada"],
    ["2026-01-05T10:00:20.5Z", "h2", "warn", "GET", "/api/orders/17", 404, 3.25, "Bob"],
    ["2026-01-05T10:01:00Z", "h2", "error", "POST", "/api/orders", 500, 1250, "bob"],
    ["2026-01-05T10:05:00Z", "h1", "info", "POST", "/api/orders", 201, 48, "ada"],
    ["2026-01-05T10:20:00Z", "h2", "error", "GET", "/api/users?id=1", 503, 30_000, "zoé"],
    ["2026-01-05T11:00:00Z", "h1", "info", "GET", "/api/users", 200, 7.75, "ZOÉ"],
  ]),
  ...orders([
    [
      "2026-01-05T10:00:01Z",
      "t1",
      {
        id: 17,
        lines: [
          { sku: "a-1", n: 2 },
          { sku: "b_2", n: 1 },
        ],
      },
    ],
    ["2026-01-05T10:01:01Z", "t2", { id: 18, lines: [] }],
    ["2026-01-05T10:05:01Z", "t3", { id: 19, lines: [{ sku: "a-1", n: 5 }], coupon: null }],
    ["2026-01-05T10:06:00Z", "", { id: "20", total: { amount: 9.5, currency: "EUR" } }],
  ]),
  // Attributes of one name and several types.
  ...[true, "true", 1, "1", null, [], {}, [1, null, "x"], -0.5, 9_007_199_254_740_991].map((mixed, i) => ({
    at: `2026-01-05T12:00:${String(i).padStart(2, "0")}Z`,
    level: "debug",
    service: "mixer",
    host: i % 2 === 0 ? "h1" : "h3",
    message: `mixed value ${i}`,
    attrs: { mixed, n: i },
  })),
  // Attributes of OpenTelemetry: dots in the key beside a bag with the same path.
  {
    at: "2026-01-05T12:10:00Z",
    service: "otel",
    message: "dotted",
    attrs: { "http.status": 418, http: { status: 200, method: "GET" }, "user name": "ada", ключ: "значение" },
  },
  { at: "2026-01-05T12:10:01Z", service: "otel", message: "nested", attrs: { http: { status: 201 } } },
  // Texts: letters of other scripts, separators, quotes, several lines, nothing.
  ...[
    "Привет Мир: диск заполнен",
    "ПриветМир",
    "Straße gesperrt, STRASSE frei",
    "alpha-beta alpha_beta alphabeta",
    "said \"no\" and 'yes' \\ 100%_done",
    "first line\nsecond line: 42",
    "😀 smile",
    "",
  ].map((message, i) => ({
    at: `2026-01-05T13:00:0${i}Z`,
    level: "info",
    service: "texts",
    host: "h1",
    message,
  })),
  // Fields to parse.
  {
    at: "2026-01-05T14:00:00Z",
    level: "fatal",
    service: "db",
    host: "h3",
    source: "syslog",
    spanId: "s9",
    eventId: "e-1",
    message: "user=ada took=1.5s rows=120 from 10.0.0.5",
  },
  {
    at: "2026-01-05T14:00:01Z",
    level: "error",
    service: "db",
    host: "h3",
    source: "syslog",
    message: "user=bob took=0.25s rows=none from 192.168.7.300",
  },
  { at: "2026-01-05T14:00:02.000000001Z", level: "trace", service: "db", host: "h3", message: "checkpoint" },
];

type Request = readonly [
  at: string,
  host: string,
  level: string,
  method: string,
  path: string,
  status: number,
  took: number,
  user: string,
];

function requests(service: string, list: readonly Request[]): Entry[] {
  return list.map(([at, host, level, method, path, status, took, user], i) => ({
    at,
    level,
    service,
    host,
    traceId: `t${i + 1}`,
    message: `${method} ${path} ${status} in ${took}ms`,
    attrs: { method, path, status, took, user },
  }));
}

function orders(list: readonly (readonly [at: string, traceId: string, order: object])[]): Entry[] {
  return list.map(([at, traceId, order]) => ({
    at,
    level: "info",
    service: "orders",
    host: "h2",
    traceId,
    message: "order placed",
    attrs: { order },
  }));
}

function nanoseconds(time: string): bigint {
  const [, whole = "", fraction = ""] = /^(.*?)(?:\.(\d+))?Z$/.exec(time) ?? [];
  return BigInt(Date.parse(`${whole}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}

/** The entries as rows of the table: those of the organization, and of every fifth a copy that belongs to another. */
export function goldenRows(): StoredRow[] {
  const own = ENTRIES.map((entry, i) => rowOf(OWN, entry, i));
  const foreign = ENTRIES.flatMap((entry, i) => {
    const marked = {
      ...entry,
      service: FOREIGN_MARK,
      message: `${entry.message} ${FOREIGN_MARK}`,
      host: FOREIGN_MARK,
    };
    return i % 5 === 0 ? [rowOf(FOREIGN, marked, 1000 + i)] : [];
  });
  return [...own, ...foreign];
}

function rowOf(organizationId: number, { at, attrs = {}, ...fields }: Entry, offset: number): StoredRow {
  const ts = nanoseconds(at);
  const values = Object.entries(attrs);
  return {
    ...fields,
    organizationId,
    ts,
    id: idAt(Number(ts / 1_000_000n), offset),
    attrs: values.map(([key, value]) => [key, storedText(value)]),
    jsonKeys: values.flatMap(([key, value]) => (typeof value === "string" ? [] : [key])),
  };
}

import { describe, expect, test } from "bun:test";
import { inferMapping } from "../../../../ingest/mapping/infer/infer-mapping.ts";
import type { Inferred } from "../../../../ingest/mapping/infer/inferred.ts";

function from(inferred: Inferred, field: string): string | null | undefined {
  return inferred.fields.find((found) => found.field === field)?.from;
}

const RECORD = {
  when: "2026-05-11T21:59:58.006Z",
  severity: "WARN",
  msg: "disk is nearly full",
  host: "db-1",
};

describe("the records of a sample", () => {
  const expected = { timestamp: { from: "when", parse: "iso" }, fields: { message: { from: "msg" } } };

  test("are found in an object, an array, lines, a JSON text and texts in an array", () => {
    const line = JSON.stringify(RECORD);
    for (const sample of [RECORD, [RECORD, RECORD], line, `${line}\n\n${line}\n`, `[${line}]`, [line, line]])
      expect(inferMapping(sample).mapping).toMatchObject(expected);
  });

  test("say the format: lines are ndjson, anything else json", () => {
    const line = JSON.stringify(RECORD);
    expect(inferMapping(`${line}\n${line}`).format).toBe("ndjson");
    expect(inferMapping(line).format).toBe("json");
    expect(inferMapping(RECORD).mapping.format).toBe("json");
  });

  test("of a known product have its format, unless the sample shows another", () => {
    const line = { level: 30, time: 1778536798006, pid: 1, hostname: "app-1", msg: "hi" };
    expect(inferMapping(line).format).toBe("ndjson");
    expect(inferMapping(JSON.stringify(line)).mapping.format).toBe("ndjson");
    expect(inferMapping(JSON.stringify([line], null, 2)).format).toBe("json");
  });

  test("are unwrapped from an envelope, which the mapping then says", () => {
    for (const [sample, records] of [
      [{ events: [RECORD, RECORD] }, "events"],
      [{ request: "r-1", data: { items: [RECORD] } }, "data.items"],
      [{ "audit.entries": [RECORD] }, "audit\\.entries"],
      [[{ logs: [RECORD] }, { logs: [RECORD, RECORD] }], "logs"],
    ] as const) {
      const inferred = inferMapping(sample);
      expect(inferred.mapping).toMatchObject({ ...expected, records: records.replace("\\", "") });
      expect(inferred.preview[0]?.entry).toMatchObject({ message: "disk is nearly full", host: "db-1" });
    }
  });

  test("are read from broken lines as far as they can be", () => {
    const inferred = inferMapping(`not json\n${JSON.stringify(RECORD)}\n{"half":`);
    expect(inferred.mapping).toMatchObject(expected);
  });
});

describe("the time", () => {
  test("is told in its unit", () => {
    for (const [value, parse] of [
      [1778536798, "epoch_s"],
      [1778536798.006, "epoch_s"],
      ["1778536798", "epoch_s"],
      [1778536798006, "epoch_ms"],
      [1778536798006123, "auto"],
      ["2026-05-11T23:59:58+02:00", "iso"],
      ["2026-05-11 21:59:58", "auto"],
      ["11/May/2026:21:59:58 +0000", "auto"],
      ["Mon, 11 May 2026 21:59:58 GMT", "auto"],
    ]) {
      const inferred = inferMapping({ ts: value, msg: "hello there" }, undefined, { usePresets: false });
      expect(inferred.mapping.timestamp as unknown).toEqual({ from: "ts", parse });
      expect(inferred.preview[0]?.entry?.ts?.slice(0, 19)).toBe("2026-05-11T21:59:58");
    }
  });

  test("is no counter, size or identifier, whatever its magnitude", () => {
    for (const name of ["flow_id", "bytes", "count", "user_id", "port"])
      expect(inferMapping({ [name]: 1778536798, msg: "hello" }).mapping.timestamp).toBeUndefined();
  });

  test("is the event's, not that of its end, its expiry or its receipt", () => {
    const inferred = inferMapping({
      received_at: "2026-05-11T22:00:05Z",
      expires_at: "2027-05-11T22:00:05Z",
      event_time: "2026-05-11T21:59:58Z",
      msg: "hello",
    });
    expect(from(inferred, "timestamp")).toBe("event_time");
    expect(inferred.alternatives).toContainEqual(
      expect.objectContaining({ field: "timestamp", from: "received_at" }),
    );
  });

  test("is taken from a second field where the first is missing", () => {
    const inferred = inferMapping([
      { time: "2026-05-11T21:59:58Z", date: "2026-05-11T21:59:58Z", msg: "one" },
      { date: "2026-05-11T22:00:00Z", msg: "two" },
    ]);
    expect(inferred.mapping.timestamp).toMatchObject({ from: "date", parse: "iso" });
  });
});

describe("the level", () => {
  const level = (values: unknown[], name = "level"): unknown =>
    inferMapping(
      values.map((value) => ({ [name]: value, msg: "hello there", ts: 1778536798 })),
      undefined,
      { usePresets: false },
    ).preview.map(({ entry }) => entry?.level);

  test("is translated from the numbers and words that products use", () => {
    expect(level([30, 50, 10])).toEqual(["info", "error", "trace"]);
    expect(level([3, 4, 6])).toEqual(["error", "warn", "info"]);
    expect(level(["6", "3"], "PRIORITY")).toEqual(["info", "error"]);
    expect(level([200, 400, 550])).toEqual(["info", "error", "fatal"]);
    expect(level([10, 30, 50], "levelno")).toEqual(["debug", "warn", "fatal"]);
    expect(level([9, 17, 21], "severityNumber")).toEqual(["info", "error", "fatal"]);
    expect(level(["Low", "High", "Medium"], "severity")).toEqual(["info", "error", "warn"]);
    expect(level(["ERROR+2", "INFO"])).toEqual(["error", "info"]);
    expect(level([200, 404, 503], "status")).toEqual(["info", "warn", "error"]);
  });

  test("keeps a status code as an attribute besides", () => {
    const inferred = inferMapping({ status: 503, method: "GET", path: "/a", ts: 1778536798 });
    expect(inferred.preview[0]?.entry).toMatchObject({
      level: "error",
      message: "GET /a 503",
      attrs: { status: 503 },
    });
  });

  test("is not made of values that are none", () => {
    expect(level(["Metadata", "Request"])).toEqual([null, null]);
    expect(level([1234, 99999])).toEqual([null, null]);
    expect(level(["shipped", "open"], "status")).toEqual([null, null]);
  });
});

describe("the message", () => {
  const message = (record: object): unknown =>
    inferMapping({ ts: 1778536798, ...record }).preview[0]?.entry?.message;

  test("of a request that has none is its method, path and status", () => {
    expect(message({ http: { method: "GET", url: "/a", status_code: 404 } })).toBe("GET /a 404");
    expect(message({ method: "POST", path: "/b", msg: "order stored" })).toBe("order stored");
  });

  test("is not made of a method and a path that belong to different things", () => {
    expect(message({ method: "local", path: "/home", event: "login" })).toBe("login");
    expect(message({ auth: { method: "GET" }, file: { path: "/home" }, event: "login" })).toBe("login");
  });

  test("is the text among several fields, not its browser, its stack or its number", () => {
    const record = {
      user_agent: "Mozilla/5.0 (X11; Linux x86_64)",
      stack: "Error: a b\n at c",
      text: "order 7 is late",
    };
    expect(message(record)).toBe("order 7 is late");
  });
});

describe("identifiers", () => {
  const id = "0af7651916cd43dd8448eb211c80319c";

  test("of traces and spans are found where they are hexadecimal", () => {
    const inferred = inferMapping({ ...RECORD, trace: { id }, span_id: "b7ad6b7169203331" });
    expect(inferred.preview[0]?.entry).toMatchObject({ traceId: id, spanId: "b7ad6b7169203331" });
    expect(from(inferMapping({ ...RECORD, trace_id: "none" }), "traceId")).toBeNull();
  });

  test("of events deduplicate only when no two records share one", () => {
    const uuid = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`;
    const unique = [1, 2, 3].map((n) => ({ ...RECORD, event_id: uuid(n) }));
    const shared = [1, 2, 2].map((n) => ({ ...RECORD, event_id: uuid(n) }));
    expect(from(inferMapping(unique), "event_id")).toBe("event_id");
    expect(from(inferMapping(shared), "event_id")).toBeNull();
    expect(from(inferMapping({ ...RECORD, EventID: 4625 }), "event_id")).toBeNull();
  });
});

describe("a hint", () => {
  test("says where a field is, whatever its name", () => {
    const sample = {
      zz: 1778536798006,
      kk: "orders",
      body: { aa: "it broke" },
      time: "2020-01-01T00:00:00Z",
    };
    const inferred = inferMapping(sample, "time is in field zz, the message is in body.aa and service: kk");
    expect(inferred.mapping).toMatchObject({
      timestamp: { from: "zz", parse: "epoch_ms" },
      fields: { message: { from: "body.aa" }, service: { from: "kk" } },
    });
    expect(inferred.preview[0]?.entry).toMatchObject({
      ts: "2026-05-11T21:59:58.006Z",
      message: "it broke",
      service: "orders",
    });
  });

  test("gives the service and the host of all records", () => {
    const inferred = inferMapping({ ts: 1778536798, msg: "hello" }, "service is billing; host = db-9");
    expect(inferred.preview[0]?.entry).toMatchObject({ service: "billing", host: "db-9" });
  });

  test("says so when the field it names holds no time", () => {
    const inferred = inferMapping({ zz: "soon", msg: "hello" }, "time is in zz");
    expect(inferred.fields.find(({ field }) => field === "timestamp")).toMatchObject({
      from: "zz",
      confidence: 0.4,
    });
    expect(inferred.preview[0]?.problem).toContain("zz");
  });

  test("decides between presets that fit alike, and corrects one that fits", () => {
    const sample = {
      level: "info",
      timestamp: "2026-05-11T21:59:58Z",
      message: "hello",
      event: "hi",
      logger: "web",
      service: "orders",
      unit: "carts",
    };
    expect(inferMapping(sample).preset).toBe("winston");
    expect(inferMapping(sample).alternatives).toContainEqual(
      expect.objectContaining({ field: "preset", from: "structlog" }),
    );
    expect(inferMapping(sample, "we use structlog here").preset).toBe("structlog");
    const corrected = inferMapping(sample, "structlog, service is in unit");
    expect(corrected.preset).toBe("structlog");
    expect(corrected.preview[0]?.entry).toMatchObject({ service: "carts", message: "hi" });
  });
});

test("what is not mapped is named, and kept as attributes", () => {
  const inferred = inferMapping({ ...RECORD, "disk.free": 12, mount: { path: "/var", flags: ["rw"] } });
  expect(inferred.unmapped).toEqual(["disk.free", "mount.path", "mount.flags"]);
  expect(inferred.preview[0]?.entry?.attrs).toEqual({
    "disk.free": 12,
    "mount.path": "/var",
    "mount.flags": ["rw"],
  });
});

describe("lines of text", () => {
  test("are recognised, and what is found is said", () => {
    const found = inferMapping(
      '203.0.113.9 - - [10/Oct/2026:13:55:36 -0700] "GET /cart HTTP/1.1" 502 2326 "-" "curl/8"\n' +
        '203.0.113.9 - - [10/Oct/2026:13:55:37 -0700] "GET / HTTP/1.1" 200 12 "-" "curl/8"',
    );
    expect([found.format, found.mapping, found.preset]).toEqual(["text", { format: "text" }, null]);
    expect(found.confidence).toBeGreaterThan(0.9);
    expect(found.preview.map(({ entry }) => [entry?.level, entry?.message])).toEqual([
      ["error", "GET /cart 502"],
      ["info", "GET / 200"],
    ]);
    expect(found.unmapped).toContain("http.response.status_code");
    expect(found.fields.map(({ field, confidence }) => [field, confidence])).toEqual([
      ["timestamp", 1],
      ["level", 1],
      ["message", 1],
      ["service", 0],
      ["host", 0],
    ]);
  });

  test("of which nothing is known give no confidence", () => {
    const { format, confidence } = inferMapping("one\ntwo\n");
    expect([format, confidence]).toEqual(["text", 0]);
  });
});

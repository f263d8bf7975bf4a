/** Splunk's HTTP Event Collector as its senders use it, against a running server. */
import { describe, expect, test } from "bun:test";
import { makeTenant } from "../tail/tail-server.ts";
import { receiveSuite } from "./receive-server.ts";

const suite = receiveSuite({ quarantineMaxRecords: 2 });

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${suite.server.url}/services/collector${path}`, {
    method: "POST",
    headers: { authorization: `Splunk ${suite.tenant.token}`, ...headers },
    body,
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const SUCCESS = { status: 200, body: { text: "Success", code: 0 } };

test.each(["", "/event", "/event/1.0"])(
  "Docker's driver asks before it starts whether there is a collector at /services/collector%s",
  async (path) => {
    const response = await fetch(`${suite.server.url}/services/collector${path}`, { method: "OPTIONS" });
    expect(response.status).toBe(200);
  },
);

describe("events", () => {
  test.each(["", "/event", "/event/1.0", "/event/"])("are stored by /services/collector%s", async (path) => {
    const body =
      '{"time":1769903998.5,"host":"node-1","source":"s","sourcetype":"t","event":"a é"}{"event":{"message":"b","level":"warn","n":12345678901234567890.5}}';
    expect(await post(path, body)).toEqual(SUCCESS);
    expect(await suite.server.stored(suite.tenant.organizationId, 2)).toMatchObject([
      {
        message: "a é",
        ts: "2026-01-31 23:59:58.500000000",
        host: "node-1",
        source: "s",
        attrs: { sourcetype: "t" },
      },
      { message: "b", level: "warn", attrs: { n: "12345678901234567890.5" } },
    ]);
  });

  test("may be packed, and of the content type that curl sends", async () => {
    const packed = Bun.gzipSync(new TextEncoder().encode('{"event":"packed"}'));
    const headers = { "content-encoding": "gzip", "content-type": "application/x-www-form-urlencoded" };
    expect(await post("/event?channel=c", packed, headers)).toMatchObject(SUCCESS);
    expect(await suite.server.stored(suite.tenant.organizationId, 1)).toMatchObject([{ message: "packed" }]);
  });

  test("that cannot be read are kept; when there is no room the sender is told which is the first", async () => {
    const body = '{"event":"good"}\n{"no":"event"}\n{"event":""}\n';
    expect(await post("/event", body)).toEqual(SUCCESS);
    expect(await suite.server.quarantined(suite.tenant.organizationId)).toBe(2);
    expect(await post("/event", body.replace("good", "other"))).toMatchObject({
      status: 400,
      body: {
        code: "VALIDATION_FAILED",
        error: expect.any(String),
        text: "Invalid data format",
        hecCode: 6,
        "invalid-event-number": 1,
      },
    });
    expect(await suite.server.stored(suite.tenant.organizationId, 2)).toHaveLength(2);
  });
});

describe("raw text", () => {
  test.each(["/raw", "/raw/1.0"])("is stored line by line by /services/collector%s", async (path) => {
    const query = "?host=node-1&source=app.log&sourcetype=text&index=main&channel=c1";
    expect(await post(`${path}${query}`, "first é\r\n\nsecond")).toEqual({
      status: 200,
      body: { text: "Success", code: 0, ackId: expect.any(Number) },
    });
    const about = { host: "node-1", source: "app.log", attrs: { sourcetype: "text", index: "main" } };
    expect(await suite.server.stored(suite.tenant.organizationId, 2)).toMatchObject([
      { message: "first é", ...about },
      { message: "second", ...about },
    ]);
  });

  test("with an unreasonable host is refused", async () =>
    expect(await post(`/raw?host=${"h".repeat(256)}`, "m")).toMatchObject({
      status: 400,
      body: { hecCode: 6 },
    }));
});

describe("acknowledgements", () => {
  test("are true for what a request with a channel was answered, as that is durable", async () => {
    const channel = { "x-splunk-request-channel": crypto.randomUUID() };
    const { body } = await post("/event", '{"event":"m"}', channel);
    expect(Number.isSafeInteger(body.ackId)).toBe(true);
    expect(await post("/ack", JSON.stringify({ acks: [body.ackId, 7] }), channel)).toEqual({
      status: 200,
      body: { acks: { [String(body.ackId)]: true, "7": true } },
    });
  });

  test.each([
    "",
    "[]",
    "{}",
    '{"acks":7}',
    '{"acks":[',
    JSON.stringify({ acks: Array.from({ length: 10_001 }, () => 1) }),
  ])("are asked for with a list of ids, and not too many", async (body) =>
    expect(await post("/ack", body)).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } }),
  );
});

test.each(["/health", "/health/1.0"])("%s is open to everybody", async (path) => {
  const response = await fetch(`${suite.server.url}/services/collector${path}`);
  expect([response.status, JSON.parse(await response.text())]).toEqual([
    200,
    { text: "HEC is healthy", code: 17 },
  ]);
});

describe("a refusal has the collector's words beside the envelope:", () => {
  test.each([
    ["without a token", { authorization: "" }, 401, "UNAUTHENTICATED", "Token is required", 2],
    [
      "with another header",
      { authorization: "Negotiate x" },
      401,
      "UNAUTHENTICATED",
      "Invalid authorization",
      3,
    ],
    ["with an empty one", { authorization: "Splunk" }, 401, "UNAUTHENTICATED", "Invalid authorization", 3],
    ["with a wrong token", { authorization: "Splunk x" }, 401, "UNAUTHENTICATED", "Invalid token", 4],
  ])("%s", async (_, headers, status, code, text, hecCode) =>
    expect(await post("/event", '{"event":"m"}', headers)).toMatchObject({
      status,
      body: { code, text, hecCode },
    }),
  );

  test("of a token that may not write", async () => {
    const reader = await makeTenant(suite.stores, ["logs:read"]);
    expect(await post("/event", "", { authorization: `Splunk ${reader.token}` })).toMatchObject({
      status: 403,
      body: { code: "PAT_SCOPE_INSUFFICIENT", text: "Invalid token", hecCode: 4 },
    });
  });

  test.each([
    ["/event", "", "No data", 5],
    ["/event", " \n", "No data", 5],
    ["/raw", "\n", "No data", 5],
    ["/event", "nonsense", "Invalid data format", 6],
    ["/event", '{"event":', "Invalid data format", 6],
    ["/event", "\u00ff", "Invalid data format", 6],
  ])("of a body of %s that holds nothing: %j", async (path, body, text, hecCode) => {
    expect(await post(path, body)).toMatchObject({
      status: 400,
      body: { code: "VALIDATION_FAILED", text, hecCode },
    });
    expect(await suite.server.stored(suite.tenant.organizationId, 0)).toEqual([]);
  });

  test("and no log line has a token", () =>
    expect(suite.server.logged().join("\n")).not.toContain(suite.tenant.token));
});

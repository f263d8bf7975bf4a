/** OTLP in protobuf against a running server: the SDK's exporter, and what exporters read of refusals. */
import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { otlpRoutes } from "../../../../../src/domains/logs/receive/otlp/routes.ts";
import { listen } from "../../../../../src/http/server.ts";
import { testApp } from "../../../../harness/http-app.ts";
import {
  doubleField,
  fixed64Field,
  lengthField,
  varintField,
} from "../../../../ingest/decode/protobuf-writer.ts";
import { receiveSuite } from "../receive-server.ts";

const suite = receiveSuite();
const TYPE = "application/x-protobuf";

function send(
  signal: "logs" | "metrics",
  body: Uint8Array | string,
  headers: Record<string, string> = {},
  url = suite.server.url,
): Promise<Response> {
  return fetch(`${url}/api/v1/otlp/v1/${signal}`, {
    method: "POST",
    headers: { authorization: `Bearer ${suite.tenant.token}`, "content-type": TYPE, ...headers },
    body: typeof body === "string" ? body : new Uint8Array(body),
  });
}

const logs = (...messages: readonly string[]): Uint8Array =>
  lengthField(
    1,
    lengthField(2, ...messages.map((text) => lengthField(2, lengthField(5, lengthField(1, text))))),
  );

async function bytesOf(response: Response): Promise<[number, string | null, Buffer]> {
  return [response.status, response.headers.get("content-type"), Buffer.from(await response.arrayBuffer())];
}

test("the exporter delivers as it is", async () => {
  const exporter = new OTLPLogExporter({
    url: `${suite.server.url}/api/v1/otlp/v1/logs`,
    headers: { authorization: `Bearer ${suite.tenant.token}` },
  });
  const provider = new LoggerProvider({
    resource: resourceFromAttributes({ "service.name": "checkout", "host.name": "web-1" }),
    processors: [new BatchLogRecordProcessor({ exporter })],
  });
  const timestamp = new Date("2026-01-31T23:59:58.123Z");
  provider
    .getLogger("orders")
    .emit({ severityNumber: 17, body: "é", attributes: { orderId: 17 }, timestamp });
  await provider.shutdown();
  expect(await suite.server.stored(suite.tenant.organizationId, 1)).toMatchObject([
    {
      message: "é",
      ts: "2026-01-31 23:59:58.123000000",
      level: "error",
      service: "checkout",
      source: "orders",
      host: "web-1",
      attrs: { orderId: "17" },
    },
  ]);
});

test("a request is answered in protobuf, also packed, once when it is repeated, and under every name of the type", async () => {
  const body = new Uint8Array(gzipSync(logs("a")));
  const headers = { "content-encoding": "gzip", "idempotency-key": crypto.randomUUID() };
  for (let repetition = 0; repetition < 2; repetition++)
    expect(await bytesOf(await send("logs", body, headers))).toEqual([200, TYPE, Buffer.alloc(0)]);
  await send("logs", logs("b"), { "content-type": "application/protobuf; proto=x" });
  expect((await suite.server.stored(suite.tenant.organizationId, 2)).map(({ message }) => message)).toEqual([
    "a",
    "b",
  ]);
});

test("a large body is decoded on the other thread", async () => {
  const messages = Array.from({ length: 400 }, (_, i) => `${String(i).padStart(3, "0")} ${"x".repeat(1000)}`);
  expect((await send("logs", logs(...messages))).status).toBe(200);
  const stored = await suite.server.stored(suite.tenant.organizationId, 400);
  expect(stored.map(({ message }) => message)).toEqual(messages);
});

describe("a refusal is a google.rpc.Status", () => {
  const status = (code: number, text: string): Buffer =>
    Buffer.concat([varintField(1, code), lengthField(2, text)]);

  test("of what is no such message; nothing is stored", async () => {
    expect(await bytesOf(await send("logs", logs("a").subarray(0, -1)))).toEqual([
      400,
      TYPE,
      status(3, "the body is no protobuf of this kind: it is cut off, at byte 2; nothing was stored"),
    ]);
    await suite.server.stored(suite.tenant.organizationId, 0);
  });

  test("of a token that is none", async () => {
    const [code, type, bytes] = await bytesOf(
      await send("logs", logs("a"), { authorization: "Bearer obs_no" }),
    );
    expect([code, type, bytes[1]]).toEqual([401, TYPE, 16]);
  });

  test("of protobuf where it is not taken, with what to do about it", async () => {
    const routes = otlpRoutes(suite.server.receiver, { protobuf: false });
    const { app } = testApp(routes, { authenticator: suite.server.authenticator });
    const listener = listen(app, { hostname: "127.0.0.1", port: 0 });
    try {
      const [code, type, bytes] = await bytesOf(await send("logs", logs("a"), {}, listener.url));
      expect([code, type]).toEqual([415, TYPE]);
      for (const text of ["OTLP_PROTOBUF=1", "OTEL_EXPORTER_OTLP_PROTOCOL=http/json", "encoding: json"])
        expect(bytes.toString()).toContain(text);
    } finally {
      await listener.abort();
    }
  });
});

describe("metrics", () => {
  const time = 1_769_903_998_123_456_789n;
  const attribute = lengthField(7, lengthField(1, "queue"), lengthField(2, lengthField(1, "mail")));
  const packed = lengthField(
    1,
    lengthField(1, lengthField(1, lengthField(1, "service.name"), lengthField(2, lengthField(1, "shop")))),
    lengthField(
      2,
      lengthField(
        2,
        lengthField(1, "queue.length"),
        lengthField(3, "{item}"),
        lengthField(5, lengthField(1, fixed64Field(3, time), fixed64Field(6, -17n), attribute)),
      ),
      lengthField(
        2,
        lengthField(1, "requests"),
        lengthField(
          7,
          lengthField(1, fixed64Field(3, time), doubleField(4, 12.5)),
          varintField(2, 2),
          varintField(3, 1),
        ),
      ),
      lengthField(
        2,
        lengthField(1, "latency"),
        lengthField(9, lengthField(1, fixed64Field(3, time)), lengthField(1, "")),
      ),
    ),
  );
  const json = JSON.stringify({
    resourceMetrics: [
      {
        resource: { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] },
        scopeMetrics: [
          {
            metrics: [
              {
                name: "queue.length",
                unit: "{item}",
                gauge: {
                  dataPoints: [
                    {
                      timeUnixNano: String(time),
                      asInt: "-17",
                      attributes: [{ key: "queue", value: { stringValue: "mail" } }],
                    },
                  ],
                },
              },
              {
                name: "requests",
                sum: {
                  dataPoints: [{ timeUnixNano: String(time), asDouble: 12.5 }],
                  aggregationTemporality: 2,
                  isMonotonic: true,
                },
              },
              { name: "latency", histogram: { dataPoints: [{ timeUnixNano: String(time) }, {}] } },
            ],
          },
        ],
      },
    ],
  });
  const message = "2 data points were rejected: the histogram latency is not kept, only sums and gauges are";

  test.each([
    ["protobuf", packed, TYPE],
    ["JSON", json, "application/json"],
  ])("in %s become entries, and what is left out is named", async (_, body, type) => {
    const response = await send("metrics", body, { "content-type": type });
    expect(response.status).toBe(200);
    if (type === TYPE)
      expect(Buffer.from(await response.arrayBuffer())).toEqual(
        Buffer.from(lengthField(1, varintField(1, 2), lengthField(2, message))),
      );
    else
      expect(await response.json()).toEqual({
        partialSuccess: { rejectedDataPoints: "2", errorMessage: message },
      });
    expect(await suite.server.stored(suite.tenant.organizationId, 2)).toMatchObject([
      {
        message: "queue.length -17",
        ts: "2026-01-31 23:59:58.123456789",
        service: "shop",
        attrs: {
          "metric.name": "queue.length",
          "metric.value": "-17",
          "metric.kind": "gauge",
          "metric.unit": "{item}",
          queue: "mail",
        },
      },
      {
        message: "requests 12.5",
        attrs: {
          "metric.value": "12.5",
          "metric.kind": "sum",
          "metric.temporality": "cumulative",
          "metric.monotonic": "true",
        },
      },
    ]);
  });
});

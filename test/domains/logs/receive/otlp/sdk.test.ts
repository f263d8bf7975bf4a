/** The OpenTelemetry SDK and its OTLP exporter as they are, against running servers. */
import { expect, test } from "bun:test";
import { type Logger, SeverityNumber } from "@opentelemetry/api-logs";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { JsonLogsSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchLogRecordProcessor,
  InMemoryLogRecordExporter,
  LoggerProvider,
  type LogRecordExporter,
} from "@opentelemetry/sdk-logs";
import { OtlpJsonDecoder } from "../../../../../ingest/index.ts";
import { otlpRoutes } from "../../../../../src/domains/logs/receive/otlp/routes.ts";
import { ApiError } from "../../../../../src/errors.ts";
import { listen } from "../../../../../src/http/server.ts";
import { Authenticator } from "../../../../../src/identity/authenticator.ts";
import { createLogger } from "../../../../../src/log.ts";
import { testApp } from "../../../../harness/http-app.ts";
import { decodeEntries } from "../../../../ingest/decode/decoded-entries.ts";
import { receiveSuite } from "../receive-server.ts";

const suite = receiveSuite();

/** An exporter that knows the suite.server by the settings that every SDK has. */
function exporterFromEnvironment(url: string, compression: "gzip" | "none"): OTLPLogExporter {
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/api/v1/otlp`,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${suite.tenant.token}`,
    OTEL_EXPORTER_OTLP_COMPRESSION: compression,
  };
  const before = { ...process.env };
  Object.assign(process.env, settings);
  try {
    return new OTLPLogExporter();
  } finally {
    for (const name of Object.keys(settings)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}

/** Logs through an SDK with this exporter, and waits until the SDK has sent everything. */
async function logThrough(exporter: LogRecordExporter, log: (logger: Logger) => void): Promise<void> {
  const provider = new LoggerProvider({
    resource: resourceFromAttributes({ "service.name": "checkout", "host.name": "node-7", region: "eu" }),
    processors: [new BatchLogRecordProcessor({ exporter })],
  });
  log(provider.getLogger("app.payment", "2.0"));
  await provider.forceFlush();
}

function logEverything(logger: Logger): void {
  logger.emit({
    timestamp: new Date("2026-01-31T23:59:58.123Z"),
    severityNumber: SeverityNumber.ERROR,
    severityText: "ERROR",
    eventName: "payment.failed",
    body: "payment failed: é 😀",
    attributes: {
      amount: 12.5,
      count: 3,
      ok: false,
      tags: ["a", "b"],
      user: { id: "u1", roles: ["admin"] },
      nothing: null,
      bytes: new Uint8Array([1, 2, 255]),
    },
  });
  logger.emit({ body: { message: "structured", status: 500 }, severityNumber: SeverityNumber.INFO2 });
}

const FIRST_ATTRIBUTES = {
  amount: 12.5,
  count: 3,
  ok: false,
  tags: ["a", "b"],
  "user.id": "u1",
  "user.roles": ["admin"],
  nothing: null,
  bytes: "AQL/",
  "event.name": "payment.failed",
  "otel.scope.version": "2.0",
  region: "eu",
};

test("what the SDK's serializer writes is read whole", async () => {
  const memory = new InMemoryLogRecordExporter();
  await logThrough(memory, logEverything);
  const body = JsonLogsSerializer.serializeRequest(memory.getFinishedLogRecords());
  if (body === undefined) throw new Error("nothing was serialized");
  const [first, second] = decodeEntries(new OtlpJsonDecoder(), body);
  expect(first).toMatchObject({
    ts: BigInt(Date.UTC(2026, 0, 31, 23, 59, 58, 123)) * 1_000_000n,
    level: "error",
    service: "checkout",
    host: "node-7",
    source: "app.payment",
    message: "payment failed: é 😀",
  });
  const { "otel.observed_time_unix_nano": observed, ...attrs } = first?.attrs ?? {};
  // The record was given a time long before it was observed.
  expect(observed).toBeNumber();
  expect(attrs).toEqual(FIRST_ATTRIBUTES);
  expect(second).toMatchObject({
    level: "info",
    message: "structured",
    attrs: { "otel.severity_number": 10, "body.status": 500 },
  });
});

test.each(["none", "gzip"] as const)(
  "an exporter with nothing but its settings delivers, packing: %s",
  async (packing) => {
    await logThrough(exporterFromEnvironment(suite.server.url, packing), logEverything);
    expect(await suite.server.stored(suite.tenant.organizationId, 2)).toMatchObject([
      {
        message: "payment failed: é 😀",
        ts: "2026-01-31 23:59:58.123000000",
        level: "error",
        service: "checkout",
        source: "app.payment",
        host: "node-7",
        attrs: { "user.id": "u1", tags: '["a","b"]', region: "eu" },
      },
      { message: "structured", attrs: { "body.status": "500" } },
    ]);
  },
);

test("the exporter sends again what was answered with 503 and Retry-After, and 429 likewise", async () => {
  const refusals: ApiError[] = [
    new ApiError("UNAVAILABLE", "The log store does not answer.", { retryAfterSeconds: 1 }),
    new ApiError("PLAN_LIMIT_LOG_BYTES", "No more for now.", { retryAfterSeconds: 1 }),
  ];
  const statuses: number[] = [];
  const bodies: string[] = [];
  const receiver: Parameters<typeof otlpRoutes>[0] = {
    receive: async ({ body }) => {
      bodies.push(new TextDecoder().decode(body));
      const refusal = refusals.shift();
      statuses.push(refusal?.status ?? 200);
      if (refusal !== undefined) throw refusal;
      return { accepted: 1, duplicates: 0, rejected: 0, quarantined: 0, errors: [], replayed: false };
    },
  };
  const routes = otlpRoutes(receiver, { protobuf: false });
  const log = createLogger("silent");
  const authenticator = new Authenticator({ sql: suite.stores.postgres, now: Date.now, log });
  const { app } = testApp(routes, { authenticator });
  const listener = listen(app, { hostname: "127.0.0.1", port: 0 });
  try {
    await logThrough(exporterFromEnvironment(listener.url, "none"), (logger) =>
      logger.emit({ body: "kept" }),
    );
  } finally {
    await listener.abort();
  }
  expect(statuses).toEqual([503, 429, 200]);
  expect(new Set(bodies).size).toBe(1);
});

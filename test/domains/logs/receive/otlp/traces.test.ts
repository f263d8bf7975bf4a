/** OTLP traces against a running server: spans about generative AI become entries, and of others it is said that they do not. */
import { describe, expect, test } from "bun:test";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { receiveSuite } from "../receive-server.ts";

const suite = receiveSuite();
const PATH = "/api/v1/otlp/v1/traces";
const BEGAN = new Date("2026-01-31T23:59:58.000Z");
const ENDED = new Date("2026-01-31T23:59:59.250Z");
const ERROR = 2;

function send(body: string | Uint8Array<ArrayBuffer>, type: string): Promise<Response> {
  return fetch(`${suite.server.url}${PATH}`, {
    method: "POST",
    headers: { authorization: `Bearer ${suite.tenant.token}`, "content-type": type },
    body,
  });
}

/** One call of a model, one of a tool that fails, and one that is about nothing of the kind. */
async function work(provider: TracerProvider): Promise<void> {
  const tracer = provider.getTracer("agents");
  const chat = tracer.startSpan("chat small", { startTime: BEGAN, kind: 2 });
  chat.setAttributes({ "gen_ai.request.model": "small", "gen_ai.usage.input_tokens": 1200 });
  chat.addEvent("gen_ai.content.prompt", { "gen_ai.prompt": "hello", other: "left out" });
  chat.end(ENDED);
  const tool = tracer.startSpan("mail", { startTime: BEGAN });
  tool.setAttributes({ "openinference.span.kind": "TOOL", "tool.name": "mail" });
  tool.recordException(new TypeError("no such address"));
  tool.setStatus({ code: ERROR, message: "failed" });
  tool.end(ENDED);
  const other = tracer.startSpan("GET /cart", { startTime: BEGAN });
  other.setAttribute("http.request.method", "GET");
  other.end(ENDED);
  await provider.forceFlush();
}

const resource = resourceFromAttributes({ "service.name": "support-bot", "host.name": "web-1" });

const EXPECTED = [
  {
    message: "chat small",
    ts: "2026-01-31 23:59:58.000000000",
    ...{ level: "info", service: "support-bot", source: "agents", host: "web-1" },
    attrs: {
      "gen_ai.request.model": "small",
      "gen_ai.usage.input_tokens": "1200",
      "gen_ai.prompt": "hello",
      "span.kind": "client",
      "span.duration_ms": "1250",
    },
  },
  {
    message: "mail",
    level: "error",
    attrs: {
      "tool.name": "mail",
      "exception.type": "TypeError",
      "exception.message": "no such address",
      "span.status_message": "failed",
    },
  },
];

describe("spans about generative AI", () => {
  test("of an SDK's own exporter become entries of when they began", async () => {
    const exporter = new OTLPTraceExporter({
      url: `${suite.server.url}${PATH}`,
      headers: { authorization: `Bearer ${suite.tenant.token}` },
    });
    const provider = new TracerProvider({
      resource,
      spanProcessors: [new SimpleSpanProcessor({ exporter })],
    });
    await work(provider);
    await provider.shutdown();
    const stored = await suite.server.stored(suite.tenant.organizationId, 2);
    expect(stored).toMatchObject(EXPECTED);
    expect(stored[0]?.attrs).not.toHaveProperty("other");
  });

  test("are the same in protobuf, and how many others there were is said", async () => {
    const memory = new InMemorySpanExporter();
    const provider = new TracerProvider({
      resource,
      spanProcessors: [new SimpleSpanProcessor({ exporter: memory })],
    });
    await work(provider);
    const packed = ProtobufTraceSerializer.serializeRequest(memory.getFinishedSpans());
    const answer = await send(new Uint8Array(packed ?? []), "application/x-protobuf");
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer()).toString()).toContain(
      "1 spans were rejected: only spans about generative AI are kept",
    );
    expect(await suite.server.stored(suite.tenant.organizationId, 2)).toMatchObject(EXPECTED);
  });

  test("that are wrong are given up by themselves, with the reason", async () => {
    const key = { key: "gen_ai.request.model", value: { stringValue: "small" } };
    const spans = [
      {
        name: "right",
        attributes: [key],
        traceId: "AB".repeat(16),
        spanId: "0".repeat(16),
        startTimeUnixNano: 5,
      },
      { name: {}, attributes: [key] },
      { name: "wrong", attributes: [key, 1] },
      "none",
    ];
    const body = { resourceSpans: [{ scopeSpans: [{ spans }] }] };
    const answer = await send(JSON.stringify(body), "application/json");
    const said: { partialSuccess: { rejectedSpans: string; errorMessage: string } } = JSON.parse(
      await answer.text(),
    );
    expect(said.partialSuccess.rejectedSpans).toBe("3");
    for (const reason of ["name is not a plain value", "attributes of a span", "a span is not an object"])
      expect(said.partialSuccess.errorMessage).toContain(reason);
    expect(await suite.server.stored(suite.tenant.organizationId, 1)).toMatchObject([
      { message: "right", ts: "1970-01-01 00:00:00.000000005" },
    ]);
    expect(await (await send("{}", "application/json")).json()).toEqual({});
    expect((await send('{"resourceSpans": 5}', "application/json")).status).toBe(400);
  });
});

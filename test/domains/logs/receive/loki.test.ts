/** Loki's push request as its senders make it, against a running server. */
import { describe, expect, test } from "bun:test";
import { compress } from "snappyjs";
import winston from "winston";
import LokiTransport from "winston-loki";
import { lengthField, varintField } from "../../../ingest/decode/protobuf-writer.ts";
import { receiveSuite } from "./receive-server.ts";

const suite = receiveSuite({ quarantineMaxRecords: 2 });

function push(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const basic = Buffer.from(`tenant:${suite.tenant.token}`).toString("base64");
  return fetch(`${suite.server.url}/loki/api/v1/push`, {
    method: "POST",
    headers: {
      authorization: `Basic ${basic}`,
      "content-type": "application/json",
      "x-scope-orgid": "somebody-else",
      ...headers,
    },
    body,
  });
}

const line = (text: unknown): string =>
  JSON.stringify({
    streams: [{ stream: { app: "shop", env: "prod" }, values: [["1769903998123456789", text]] }],
  });

test("lines are stored under their labels and answered with 204", async () => {
  const response = await push(line("a é"));
  expect([response.status, await response.text()]).toEqual([204, ""]);
  expect(await suite.server.stored(suite.tenant.organizationId, 1)).toMatchObject([
    { message: "a é", ts: "2026-01-31 23:59:58.123456789", service: "shop", attrs: { env: "prod" } },
  ]);
});

test("a packed body and one without any stream are taken", async () => {
  const packed = Bun.gzipSync(new TextEncoder().encode(line("packed")));
  expect((await push(packed, { "content-encoding": "gzip" })).status).toBe(204);
  expect((await push('{"streams":[]}')).status).toBe(204);
  expect(await suite.server.stored(suite.tenant.organizationId, 1)).toMatchObject([{ message: "packed" }]);
});

test("a request that is repeated under its Idempotency-Key is stored once", async () => {
  const headers = { "idempotency-key": crypto.randomUUID() };
  expect((await push(line("once"), headers)).status).toBe(204);
  expect((await push(line("once"), headers)).status).toBe(204);
  expect((await push(line("after"))).status).toBe(204);
  expect(await suite.server.stored(suite.tenant.organizationId, 2)).toMatchObject([
    { message: "after" },
    { message: "once" },
  ]);
});

test("lines that cannot be read are kept; when there is no room the sender is told which", async () => {
  const values = [
    ["1769903998123456789", "good"],
    ["never", "a"],
    ["1769903998123456789", 7],
  ];
  const body = (good: string): string =>
    JSON.stringify({ streams: [{ stream: {}, values }] }).replace("good", good);
  expect((await push(body("first"))).status).toBe(204);
  expect(await suite.server.quarantined(suite.tenant.organizationId)).toBe(2);
  const full = await push(body("second"));
  expect([full.status, JSON.parse(await full.text())]).toMatchObject([
    400,
    {
      code: "VALIDATION_FAILED",
      fields: [
        { path: "/streams/0/values/1", code: "custom" },
        { path: "/streams/0/values/2", code: "custom" },
      ],
    },
  ]);
  expect(await suite.server.stored(suite.tenant.organizationId, 2)).toMatchObject([
    { message: "first" },
    { message: "second" },
  ]);
});

describe("protobuf in a Snappy block", () => {
  const type = { "content-type": "application/x-protobuf" };
  const time = lengthField(1, varintField(1, 1_769_903_998), varintField(2, 123_456_789));
  const metadata = lengthField(3, lengthField(1, "user"), lengthField(2, "u"));
  const packed = (...lines: readonly string[]): Uint8Array<ArrayBuffer> =>
    new Uint8Array(
      compress(
        new Uint8Array(
          lengthField(
            1,
            lengthField(1, '{app="shop", env="a \\"b\\"", level="warn"}'),
            ...lines.map((text) => lengthField(2, time, lengthField(2, text), metadata)),
          ),
        ),
      ),
    );

  test("is stored under its labels, with its metadata; a line of JSON is taken apart", async () => {
    const body = packed("a é", '{"msg":"b","level":"error","id":7}');
    expect((await push(body, type)).status).toBe(204);
    expect(await suite.server.stored(suite.tenant.organizationId, 2)).toMatchObject([
      {
        message: "a é",
        ts: "2026-01-31 23:59:58.123456789",
        level: "warn",
        service: "shop",
        attrs: { env: 'a "b"', user: "u" },
      },
      { message: "b", level: "error", service: "shop", attrs: { id: "7" } },
    ]);
  });

  test("is refused when it is cut off or announces more than a body may have", async () => {
    const body = packed("a");
    const bomb = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f, 0);
    for (const [bytes, status] of [[body.slice(0, -1), 400] as const, [bomb, 413] as const])
      expect((await push(bytes, type)).status).toBe(status);
    await suite.server.stored(suite.tenant.organizationId, 0);
  });

  test("is what winston-loki sends", async () => {
    const transport = new LokiTransport({
      host: suite.server.url,
      basicAuth: `tenant:${suite.tenant.token}`,
      labels: { service_name: "checkout" },
      batching: false,
    });
    const logger = winston.createLogger({ format: winston.format.json(), transports: [transport] });
    logger.error("hello from winston", { orderId: 17 });
    await transport.flush();
    expect(await suite.server.stored(suite.tenant.organizationId, 1)).toMatchObject([
      { message: expect.stringContaining("hello from winston"), level: "error", service: "checkout" },
    ]);
    logger.close();
  });
});

test.each(["", "{}", "[]", '{"streams":7}', '{"streams":[', "\u0000"])(
  "a body that is no push request is refused: %j",
  async (body) => {
    const response = await push(body);
    expect([response.status, JSON.parse(await response.text())]).toMatchObject([
      400,
      { code: "VALIDATION_FAILED" },
    ]);
  },
);

test("another password is refused", async () => {
  const response = await push(line("m"), { authorization: `Basic ${Buffer.from("a:b").toString("base64")}` });
  expect([response.status, JSON.parse(await response.text())]).toMatchObject([
    401,
    { code: "UNAUTHENTICATED" },
  ]);
});

/** Loki's push request as its senders make it, against a running server. */
import { expect, test } from "bun:test";
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

test("protobuf is refused with the name of what is taken", async () => {
  const response = await push(new Uint8Array([1, 2, 3]), { "content-type": "application/x-protobuf" });
  expect([response.status, JSON.parse(await response.text())]).toMatchObject([
    415,
    { code: "UNSUPPORTED_MEDIA_TYPE", error: expect.stringContaining("application/json") },
  ]);
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

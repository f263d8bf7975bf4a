/** OTLP as requests, against a running server. */
import { describe, expect, test } from "bun:test";
import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { receiveSuite } from "../receive-server.ts";

const suite = receiveSuite();

function send(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${suite.server.url}/api/v1/otlp/v1/logs`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${suite.tenant.token}`,
      "content-type": "application/json",
      ...headers,
    },
    body,
  });
}

function requestOf(...logRecords: unknown[]): string {
  return JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
}

const record = (message: string): unknown => ({
  timeUnixNano: "1769903998123456789",
  severityNumber: 13,
  body: { stringValue: message },
});

async function jsonOf(response: Response): Promise<unknown> {
  return [response.status, await response.json()];
}

test("records are stored and answered with an empty response", async () => {
  const response = await send(requestOf(record("a é"), record("b")));
  expect(response.headers.get("content-type")).toStartWith("application/json");
  expect(await jsonOf(response)).toEqual([200, {}]);
  expect(await suite.server.stored(suite.tenant.organizationId, 2)).toMatchObject([
    { message: "a é", ts: "2026-01-31 23:59:58.123456789", level: "warn" },
    { message: "b" },
  ]);
});

test("a request without records succeeds", async () => {
  for (const body of ["{}", '{"resourceLogs":[]}']) expect(await jsonOf(await send(body))).toEqual([200, {}]);
});

test("packed bodies of every kind are taken", async () => {
  const packers = { gzip: gzipSync, deflate: deflateSync, zstd: zstdCompressSync };
  for (const [encoding, pack] of Object.entries(packers)) {
    const body = new Uint8Array(pack(requestOf(record(encoding))));
    expect(await jsonOf(await send(body, { "content-encoding": encoding }))).toEqual([200, {}]);
  }
  expect((await suite.server.stored(suite.tenant.organizationId, 3)).map(({ message }) => message)).toEqual([
    "deflate",
    "gzip",
    "zstd",
  ]);
});

test("more records than a native request may have are taken at once", async () => {
  const messages = Array.from({ length: 3_000 }, (_, i) => record(`m${i}`));
  expect(await jsonOf(await send(requestOf(...messages)))).toEqual([200, {}]);
  await suite.server.stored(suite.tenant.organizationId, 3_000);
});

test("bad records are counted and named, not kept; the others are stored", async () => {
  const bad = Array.from({ length: 7 }, () => 5);
  const response = await send(requestOf(record("good"), ...bad));
  const place = (index: number): string =>
    `/resourceLogs/0/scopeLogs/0/logRecords/${index}: the record is not an object`;
  expect(await jsonOf(response)).toEqual([
    200,
    {
      partialSuccess: {
        rejectedLogRecords: "7",
        errorMessage: `7 log records were rejected: ${[1, 2, 3, 4, 5].map(place).join("; ")}; and 2 more`,
      },
    },
  ]);
  expect(await suite.server.stored(suite.tenant.organizationId, 1)).toMatchObject([{ message: "good" }]);
  expect(await suite.server.quarantined(suite.tenant.organizationId)).toBe(0);
});

test("a request that is repeated under its Idempotency-Key is stored once", async () => {
  const headers = { "idempotency-key": crypto.randomUUID() };
  for (const replayed of [null, "true"]) {
    const response = await send(requestOf(record("once")), headers);
    expect(response.headers.get("idempotent-replayed")).toBe(replayed);
    expect(await jsonOf(response)).toEqual([200, {}]);
  }
  expect(await jsonOf(await send(requestOf(record("then"))))).toEqual([200, {}]);
  await suite.server.stored(suite.tenant.organizationId, 2);
});

describe("a refusal carries our envelope and the text of a google.rpc.Status", () => {
  test.each([
    [
      "not JSON",
      "{",
      {},
      400,
      "VALIDATION_FAILED",
      "the body is not valid JSON at byte 1; nothing was stored",
    ],
    [
      "not the message",
      '{"resourceLogs":1}',
      {},
      400,
      "VALIDATION_FAILED",
      "/resourceLogs is not an array; nothing was stored",
    ],
    [
      "an unknown packing",
      "x",
      { "content-encoding": "snappy" },
      415,
      "UNSUPPORTED_MEDIA_TYPE",
      "The content encoding is not accepted. It must be gzip, deflate, zstd or none.",
    ],
    ["nobody", "{}", { authorization: "Bearer obs_nothing" }, 401, "UNAUTHENTICATED", expect.any(String)],
  ])("%s", async (_, body, headers, status, code, message) => {
    const response = await send(body, headers);
    const answer: unknown = await response.json();
    expect(response.status).toBe(status);
    expect(answer).toMatchObject({ code, error: message, message, requestId: expect.any(String) });
  });
});

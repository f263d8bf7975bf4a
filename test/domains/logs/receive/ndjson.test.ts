/** NDJSON on native ingest, against a running server. */
import { expect, test } from "bun:test";
import { receiveSuite } from "./receive-server.ts";

const suite = receiveSuite();

async function post(
  body: string | Uint8Array<ArrayBuffer>,
  type = "application/x-ndjson",
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Readonly<Record<string, unknown>> }> {
  const response = await fetch(`${suite.server.url}/api/v1/logs/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${suite.tenant.token}`, "content-type": type, ...headers },
    body,
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

test.each([
  "application/x-ndjson",
  "application/x-ndjson; charset=utf-8",
  "application/ndjson",
  "application/jsonl",
  "Application/Stream+JSON",
])("lines of %s are stored and answered as an array is", async (type) => {
  expect(await post('{"message":"a","level":"warn"}\n{"message":"b é"}\n', type)).toEqual({
    status: 202,
    body: { accepted: 2, duplicates: 0 },
  });
  expect(await suite.server.stored(suite.tenant.organizationId, 2)).toMatchObject([
    { message: "a", level: "warn" },
    { message: "b é" },
  ]);
});

test("event ids deduplicate within a request and across requests and formats", async () => {
  const line = (id: string): string => `{"message":"m ${id}","event_id":"${id}"}\n`;
  expect((await post(line("1") + line("1") + line("2"))).body).toEqual({ accepted: 3, duplicates: 1 });
  expect((await post(line("2") + line("3"))).body).toEqual({ accepted: 2, duplicates: 1 });
  expect((await post(`[${line("3")}]`, "application/json")).body).toEqual({ accepted: 1, duplicates: 1 });
  expect(await suite.server.stored(suite.tenant.organizationId, 3)).toHaveLength(3);
});

test("a packed request that is repeated under its Idempotency-Key is stored once", async () => {
  const body = Bun.gzipSync(new TextEncoder().encode('{"message":"once"}\n'));
  const headers = { "content-encoding": "gzip", "idempotency-key": crypto.randomUUID() };
  expect((await post(body, undefined, headers)).status).toBe(202);
  expect((await post(body, undefined, headers)).status).toBe(202);
  expect(await suite.server.stored(suite.tenant.organizationId, 1)).toMatchObject([{ message: "once" }]);
});

test("an invalid line refuses the request, with its number", async () => {
  expect(await post('{"message":"a"}\n{"message":"b","lvl":1}\n{"message":')).toMatchObject({
    status: 400,
    body: {
      code: "VALIDATION_FAILED",
      fields: [
        { path: "/1/lvl", code: "unrecognized_keys", message: "line 2: unknown field" },
        { path: "/2", code: "custom", message: expect.stringContaining("line 3: not valid JSON") },
      ],
    },
  });
  expect(await suite.server.stored(suite.tenant.organizationId, 0)).toEqual([]);
});

test.each([
  ["lines sent as JSON", '{"message":"a"}\n{"message":"b"}', "application/json", 400],
  ["lines sent as text", '{"message":"a"}', "text/plain", 415],
  ["too many lines", '{"message":"a"}\n'.repeat(501), "application/x-ndjson", 400],
  ["no line", "\n", "application/x-ndjson", 400],
])("%s are refused", async (_, body, type, status) => expect((await post(body, type)).status).toBe(status));

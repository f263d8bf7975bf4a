/** Damaged and hostile requests to every path, under every header that says what they are: none is the server's fault. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { openTestStores, type TestStores } from "../../../../harness/stores.ts";
import { makeTenant, type Tenant } from "../../tail/tail-server.ts";
import { type ReceiveServer, startReceiveServer } from "../receive-server.ts";

let stores: TestStores;
let server: ReceiveServer;
let tenant: Tenant;

beforeAll(async () => {
  stores = await openTestStores();
  server = await startReceiveServer(stores, { quarantineMaxRecords: 50 });
  tenant = await makeTenant(stores, ["logs:write"]);
});
afterAll(async () => {
  await server.close();
  await stores.close();
});

const base64 = (data: string | Uint8Array): string => Buffer.from(data).toString("base64");

const BODIES: readonly Uint8Array[] = [
  '[{"id":"1","timestamp":1795255200000,"message":"a","proxy":{"path":"/"}}]',
  '{"id":"1","message":"a"}\n{"id":"2","message":"b"}',
  "54 <13>1 2026-11-21T10:00:00+00:00 host app web.1 - framed",
  JSON.stringify({
    requestId: "r",
    timestamp: 1,
    records: [{ data: base64('{"a":1}{"b":2}') }, { data: "" }],
  }),
  JSON.stringify({ requestId: "r", records: [{ data: base64(gzipSync('{"messageType":"DATA_MESSAGE"}')) }] }),
  JSON.stringify({ records: [{ data: base64(gzipSync("x").subarray(0, 9)) }, null, 1, "a"] }),
  '{"content":"tests"}',
  "[".repeat(5_000),
  `${'{"records":[{"data":"'.repeat(200)}`,
  '{"__proto__":{"a":1},"constructor":{"prototype":1}}',
  "",
].map((text) => Buffer.from(text));

const HEADERS: readonly Record<string, string>[] = [
  {},
  { "content-type": "application/json" },
  { "content-type": "application/logplex-1", "logplex-msg-count": "99999999999999999999" },
  { "logplex-frame-id": "1", "logplex-msg-count": "-1" },
  { "X-Amz-Firehose-Request-Id": "r", "X-Amz-Firehose-Common-Attributes": '{"commonAttributes":' },
  { "X-Amz-Firehose-Request-Id": "r", "X-Amz-Firehose-Access-Key": "obs_short" },
  { "x-vercel-signature": "not hexadecimal", "x-vercel-verify": "a\tb" },
];

const request = fc.record({
  path: fc.constantFrom("platform-a", "platform-b", "stream-a"),
  body: fc.constantFrom(...BODIES),
  headers: fc.constantFrom(...HEADERS),
  packed: fc.constantFrom("no", "yes", "silently", "wrongly"),
  damage: fc.array(
    fc.record({
      at: fc.nat(),
      removed: fc.nat({ max: 3 }),
      put: fc.constantFrom("", "{", '"', "\\", "\u0000", "9", "é"),
    }),
    {
      maxLength: 3,
    },
  ),
});

test("every one is answered with success or with what is the matter with it, and nothing is logged as an error", () =>
  fc.assert(
    fc.asyncProperty(request, async ({ path, body, headers, packed, damage }) => {
      let bytes = Buffer.from(body);
      for (const { at, removed, put } of damage) {
        const place = at % (bytes.length + 1);
        bytes = Buffer.concat([bytes.subarray(0, place), Buffer.from(put), bytes.subarray(place + removed)]);
      }
      if (packed === "yes" || packed === "silently") bytes = gzipSync(bytes);
      const answer = await fetch(`${server.url}/api/v1/logs/ingest/${path}/${tenant.token}`, {
        method: "POST",
        headers: {
          ...headers,
          ...(packed !== "no" && packed !== "silently" && { "content-encoding": "gzip" }),
        },
        body: Uint8Array.from(bytes),
      });
      const told: Record<string, unknown> = JSON.parse(await answer.text());
      expect([200, 202, 400, 503]).toContain(answer.status);
      // The quarantine is full after a while, which only the sender of a delivery can do something about.
      if (answer.status === 503) expect(told.error).toContain("the quarantine has no room");
      if (headers["X-Amz-Firehose-Request-Id"] !== undefined) expect(told.requestId).toBe("r");
      if (answer.status === 400) expect(told.code).toBe("VALIDATION_FAILED");
      if (headers["X-Amz-Firehose-Request-Id"] !== undefined && answer.status === 200)
        expect(Object.keys(told)).toEqual(["requestId", "timestamp"]);
      const errors = server.logged().filter((line) => /"level":(?:"error"|50)/.test(line));
      expect(errors).toEqual([]);
    }),
    { numRuns: 300 },
  ));

/** A delivery stream against a running server: its answers are what the sender takes for one. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { REQUEST_MAX_RECORDS } from "../../../../../ingest/index.ts";
import { PORTION_BYTES } from "../../../../../src/domains/logs/receive/platforms/limits.ts";
import { receiveSuite, startReceiveServer } from "../receive-server.ts";

const SAMPLE = join(import.meta.dir, "../../../../../../shared/data/payloads/firehose-request.json");

const suite = receiveSuite();

const ID = "ed4acda5-034f-9f42-bba1-f29aea6d7d8f";

function envelope(records: readonly (string | Uint8Array)[], timestamp = 1_578_090_901_599): string {
  const data = records.map((record) => ({ data: Buffer.from(record).toString("base64") }));
  return JSON.stringify({ requestId: ID, timestamp, records: data });
}

function deliver(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  token = suite.tenant.token,
  url = suite.server.url,
): Promise<Response> {
  return fetch(`${url}/api/v1/logs/ingest/stream-a/${token}`, {
    method: "POST",
    headers: { "content-type": "application/json", "X-Amz-Firehose-Request-Id": ID, ...headers },
    body,
  });
}

describe("a delivery", () => {
  test("is answered with exactly what its sender takes for a success", async () => {
    const before = Date.now();
    const answer = await deliver(envelope(["hello"]));
    const text = await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("content-length")).toBe(String(text.length));
    expect(answer.headers.get("content-encoding")).toBeNull();
    const body: { requestId: string; timestamp: number } = JSON.parse(text);
    expect(Object.keys(body)).toEqual(["requestId", "timestamp"]);
    expect(body.requestId).toBe(ID);
    expect(body.timestamp).toBeGreaterThanOrEqual(before);
  });

  test("that is tried again is stored once, also when the attempt has a time of its own", async () => {
    const records = ['{"level":"error","msg":"boom"}\n', "a line", gzipSync('{"msg":"packed"}')];
    expect((await deliver(envelope(records, 1))).status).toBe(200);
    expect((await deliver(envelope(records, 2))).status).toBe(200);
    const packed = gzipSync(envelope(records, 3));
    expect((await deliver(packed, { "content-encoding": "gzip" })).status).toBe(200);
    const stored = await suite.server.stored(suite.tenant.organizationId, 3);
    expect(stored.map(({ message, level }) => [message, level])).toEqual([
      ["a line", ""],
      ["boom", "error"],
      ["packed", ""],
    ]);
  });

  test("of several portions is stored once as well", async () => {
    const large = (name: string): string =>
      `${JSON.stringify({ msg: name, pad: "x".repeat(PORTION_BYTES / 2) })}\n`;
    const body = envelope([large("a"), large("b"), large("c")].map((record) => gzipSync(record)));
    for (let i = 0; i < 2; i++) expect((await deliver(body)).status).toBe(200);
    const stored = await suite.server.stored(suite.tenant.organizationId, 3);
    expect(stored.map(({ message }) => message)).toEqual(["a", "b", "c"]);
  });

  test("gives its attributes to its entries", async () => {
    await deliver(envelope(["a"]), {
      "X-Amz-Firehose-Common-Attributes": '{"commonAttributes":{"deployment":"blue"}}',
    });
    const [entry] = await suite.server.stored(suite.tenant.organizationId, 1);
    expect(entry?.attrs.deployment).toBe("blue");
  });

  test("may carry the token as its access key, and any other key leaves it to the path", async () => {
    const header = "X-Amz-Firehose-Access-Key";
    expect((await deliver(envelope(["a"]), { [header]: suite.tenant.token }, "access-key")).status).toBe(200);
    expect((await deliver(envelope(["b"]), { [header]: "some other key" })).status).toBe(200);
    expect((await deliver(envelope(["c"]), { [header]: "some other key" }, "access-key")).status).toBe(401);
    await suite.server.stored(suite.tenant.organizationId, 2);
  });

  test("of a log group gives an entry for each event, and none for its question whether somebody listens", async () => {
    const group = (messageType: string, ids: readonly string[]): Uint8Array =>
      gzipSync(
        JSON.stringify({
          messageType,
          owner: "111122223333",
          logGroup: "/example/web",
          logStream: "1",
          logEvents: ids.map((id) => ({ id, timestamp: 1_795_255_200_000, message: `event ${id}` })),
        }),
      );
    await deliver(envelope([group("CONTROL_MESSAGE", ["0"]), group("DATA_MESSAGE", ["1", "2"])]));
    // The sender of the events repeats them in another delivery.
    await deliver(envelope([group("DATA_MESSAGE", ["2", "3"])]), { "X-Amz-Firehose-Request-Id": "another" });
    const stored = await suite.server.stored(suite.tenant.organizationId, 3);
    expect(stored.map(({ message, service, attrs }) => [message, service, attrs.logGroup])).toEqual([
      ["event 1", "/example/web", "/example/web"],
      ["event 2", "/example/web", "/example/web"],
      ["event 3", "/example/web", "/example/web"],
    ]);
  });

  test("with records that cannot be read is a success: they are in the quarantine", async () => {
    const body = JSON.stringify({
      requestId: ID,
      timestamp: 1,
      records: [{ data: "?" }, { data: Buffer.from("a").toString("base64") }, 7, {}],
    });
    for (let i = 0; i < 2; i++) expect((await deliver(body)).status).toBe(200);
    await suite.server.stored(suite.tenant.organizationId, 1);
    expect(await suite.server.quarantined(suite.tenant.organizationId)).toBe(3);
  });

  test("without records is a success", async () => {
    expect((await deliver(envelope([]))).status).toBe(200);
  });
});

describe("a refusal of a delivery", () => {
  const refusalOf = async (response: Response): Promise<unknown[]> => {
    const { code, requestId, timestamp, errorMessage, error } = JSON.parse(await response.text());
    return [response.status, code, requestId, typeof timestamp, errorMessage === error];
  };

  test("carries the sender's request id, whatever is the matter", async () => {
    for (const body of ["", "{", "[]", "text"])
      expect(await refusalOf(await deliver(body))).toEqual([400, "VALIDATION_FAILED", ID, "number", true]);
    expect(await refusalOf(await deliver('{"records":7}'))).toEqual([
      400,
      "VALIDATION_FAILED",
      ID,
      "number",
      true,
    ]);
    const unknown = await deliver(envelope(["a"]), {}, `obs_${"x".repeat(43)}`);
    expect(await refusalOf(unknown)).toEqual([401, "UNAUTHENTICATED", ID, "number", true]);
    const odd = await deliver(envelope(["a"]), { "content-encoding": "br" });
    expect(await refusalOf(odd)).toEqual([415, "UNSUPPORTED_MEDIA_TYPE", ID, "number", true]);
  });

  test("is the answer while there are records that are neither stored nor kept, whose others are stored once", async () => {
    const full = await startReceiveServer(suite.stores, { quarantineMaxRecords: 0 });
    try {
      const body = JSON.stringify({
        requestId: ID,
        timestamp: 1,
        records: [{ data: "?" }, { data: "YQ==" }],
      });
      for (let i = 0; i < 2; i++) {
        const answer = await deliver(body, {}, suite.tenant.token, full.url);
        expect(await refusalOf(answer)).toEqual([503, "UNAVAILABLE", ID, "number", true]);
      }
      expect(await full.stored(suite.tenant.organizationId, 1)).toMatchObject([{ message: "a" }]);
    } finally {
      await full.close();
    }
  });

  test("says that nothing was stored only when it is so", async () => {
    const many = `[${"1,".repeat(REQUEST_MAX_RECORDS)}{}]`;
    const messageOf = async (records: readonly string[]): Promise<string> => {
      const answer = await deliver(envelope(records));
      expect(answer.status).toBe(400);
      const { errorMessage }: { errorMessage: string } = JSON.parse(await answer.text());
      return errorMessage;
    };
    expect(await messageOf([many])).toEndWith("nothing was stored");
    const message = await messageOf(["a".repeat(PORTION_BYTES), many]);
    expect(message).toStartWith("From /records/1 on the delivery is not stored: at most 100000 records");
    expect(message).toEndWith("what is before it is stored.");
    await suite.server.stored(suite.tenant.organizationId, 1);
  });

  test("is never 413, after which the sender would destroy it without a copy", async () => {
    const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024, 0x20));
    const answer = await deliver(bomb, { "content-encoding": "gzip" });
    expect(await refusalOf(answer)).toEqual([400, "VALIDATION_FAILED", ID, "number", true]);
  });
});

describe("another delivery service", () => {
  const push = (body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${suite.server.url}/api/v1/logs/ingest/stream-a/${suite.tenant.token}`, {
      method: "POST",
      headers,
      body,
    });

  test("finds that its destination accepts what it tries it with, which is not stored", async () => {
    for (const headers of [{ "content-encoding": "gzip" }, {}]) {
      const answer = await push(gzipSync('{"content":"tests"}\n'), headers);
      expect([answer.status, await answer.json()]).toMatchObject([200, { accepted: 0, quarantined: 0 }]);
    }
    await push(gzipSync('{"RayID":"1","EdgeStartTimestamp":"2026-11-21T10:00:00Z","message":"only"}\n'));
    await suite.server.stored(suite.tenant.organizationId, 1);
  });

  test("has its lines stored", async () => {
    const lines = [1, 2].map((n) => JSON.stringify({ RayID: `ray ${n}`, ClientRequestHost: "example.com" }));
    const answer = await push(gzipSync(`${lines.join("\n")}\n`), { "content-encoding": "gzip" });
    expect([answer.status, await answer.json()]).toMatchObject([200, { accepted: 2 }]);
    const stored = await suite.server.stored(suite.tenant.organizationId, 2);
    expect(stored.map(({ attrs }) => attrs.RayID)).toEqual(["ray 1", "ray 2"]);
  });
});

test.if(existsSync(SAMPLE))("the documented sample is stored", async () => {
  const answer = await deliver(readFileSync(SAMPLE, "utf8"));
  expect([answer.status, await answer.json()]).toMatchObject([200, { requestId: ID }]);
  const stored = await suite.server.stored(suite.tenant.organizationId, 3);
  expect(stored.map(({ message }) => message)).toContain("hello");
});

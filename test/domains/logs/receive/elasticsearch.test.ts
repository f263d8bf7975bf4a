/** The real Elasticsearch client, and requests as other clients make them, against a running server. */
import { describe, expect, test } from "bun:test";
import { Client, HttpConnection } from "@elastic/elasticsearch";
import { ElasticsearchBulk } from "../../../../ingest/index.ts";
import { LogBatch } from "../../../../ingest/log-batch.ts";
import { RecordWriter } from "../../../../ingest/record/record-writer.ts";
import { AnsweredBulk } from "../../../../src/domains/logs/receive/elasticsearch/bulk-answer.ts";
import { makeTenant } from "../tail/tail-server.ts";
import { receiveSuite } from "./receive-server.ts";

const suite = receiveSuite();

/** Over node:http, as the client's other connection wants an HTTP library that is not what it seems on this runtime. */
function client(auth: ConstructorParameters<typeof Client>[0]["auth"]): Client {
  return new Client({
    node: `${suite.server.url}/elasticsearch`,
    ...(auth !== undefined && { auth }),
    Connection: HttpConnection,
    maxRetries: 0,
  });
}

function post(path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  return fetch(`${suite.server.url}/elasticsearch${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${suite.tenant.token}`,
      "content-type": "application/x-ndjson",
      ...headers,
    },
    body,
  });
}

interface BulkAnswer {
  readonly errors: boolean;
  readonly items: readonly Record<string, { status: number; _index: string; _id: string; error?: unknown }>[];
}

async function answerOf(response: Response): Promise<BulkAnswer> {
  expect(response.headers.get("x-elastic-product")).toBe("Elasticsearch");
  return JSON.parse(await response.text());
}

describe("the Elasticsearch client", () => {
  test("sends with client.bulk and is told of every item", async () => {
    const elastic = client({ username: "anyone", password: suite.tenant.token });
    const answer = await elastic.bulk({
      index: "web",
      operations: [
        { create: {} },
        {
          "@timestamp": "2026-11-20T10:00:00.123456789Z",
          message: "a é",
          log: { level: "error" },
          port: 443,
        },
        { index: { _index: "jobs", _id: "17" } },
        { message: "b" },
        { delete: { _id: "18" } },
      ],
    });
    expect(answer.errors).toBe(true);
    expect(answer.items).toMatchObject([
      { create: { _index: "web", status: 201, result: "created", _id: expect.any(String) } },
      { index: { _index: "jobs", _id: "17", status: 201 } },
      { delete: { _index: "web", _id: "18", status: 400, error: { type: "illegal_argument_exception" } } },
    ]);
    expect(await suite.server.stored(suite.tenant.organizationId, 2)).toMatchObject([
      {
        message: "a é",
        ts: "2026-11-20 10:00:00.123456789",
        level: "error",
        source: "web",
        attrs: { port: "443" },
      },
      { message: "b", source: "jobs", attrs: { _id: "17" } },
    ]);
    await elastic.close();
  });

  test("sends thousands of documents with helpers.bulk", async () => {
    const elastic = client({ apiKey: { id: "obs", api_key: suite.tenant.token } });
    const dropped: unknown[] = [];
    const documents = Array.from({ length: 3000 }, (_, n) => ({
      message: `document ${n}`,
      "service.name": "orders",
    }));
    const result = await elastic.helpers.bulk({
      datasource: documents,
      flushBytes: 20_000,
      onDocument: () => ({ create: { _index: "orders" } }),
      onDrop: (drop) => dropped.push(drop),
    });
    expect({ dropped, ...result }).toMatchObject({ dropped: [], total: 3000, successful: 3000, failed: 0 });
    const stored = await suite.server.stored(suite.tenant.organizationId, 3000);
    expect(new Set(stored.map(({ message }) => message)).size).toBe(3000);
    await elastic.close();
  });

  test("sends single documents with client.index and client.create", async () => {
    const elastic = client({ username: "anyone", password: suite.tenant.token });
    const document = { message: "one", level: "warn" };
    expect(await elastic.index({ index: "web", document })).toMatchObject({
      result: "created",
      _index: "web",
    });
    for (const message of ["two", "again"]) {
      const answer = await elastic.create({ index: "web", id: "a/2", document: { message } });
      expect(answer).toMatchObject({ result: "created", _id: "a/2", _version: 1 });
    }
    await elastic.index({ index: "web", id: "3", document: { message: "zero" } });
    expect(await suite.server.stored(suite.tenant.organizationId, 3)).toMatchObject([
      { message: "one", level: "warn", source: "web" },
      { message: "two", event_id: "web/a/2" },
      { message: "zero", attrs: { _id: "3" } },
    ]);
    await expect(
      elastic.transport.request({ method: "POST", path: "/web/_doc", body: "[]" }),
    ).rejects.toThrow();
    await elastic.close();
  });

  test("finds what it asks for before it sends", async () => {
    const elastic = client({ bearer: suite.tenant.token });
    expect(await elastic.ping()).toBe(true);
    expect(Number((await elastic.info()).version.number.split(".")[0])).toBeGreaterThanOrEqual(9);
    expect((await elastic.license.get()).license.status).toBe("active");
    expect(await elastic.indices.existsIndexTemplate({ name: "filebeat" })).toBe(true);
    expect(
      await elastic.indices.putIndexTemplate({ name: "filebeat", index_patterns: ["filebeat-*"] }),
    ).toEqual({
      acknowledged: true,
    });
    expect(await elastic.indices.exists({ index: "logstash" })).toBe(true);
    expect(await elastic.indices.create({ index: "logs-2026" })).toMatchObject({ acknowledged: true });
    expect(await elastic.ilm.getLifecycle({ name: "filebeat" })).toHaveProperty("filebeat");
    expect(await elastic.ingest.getPipeline({ id: "web" })).toHaveProperty("web");
    expect((await elastic.cluster.health()).status).toBe("green");
    await elastic.close();
  });

  test("is refused with another password", async () => {
    const elastic = client({ username: "anyone", password: "elastic" });
    await expect(elastic.bulk({ operations: [{ create: {} }, { message: "m" }] })).rejects.toThrow();
    await elastic.close();
  });
});

describe("_bulk", () => {
  test("stores a create with an id once, also when it is repeated with others", async () => {
    const create = (id: string): string => `{"create":{"_index":"i","_id":"${id}"}}\n{"message":"m ${id}"}\n`;
    await answerOf(await post("/_bulk", create("1") + create("2")));
    const answer = await answerOf(await post("/_bulk", create("2") + create("3") + create("3")));
    expect(answer.items.map((item) => item.create?.status)).toEqual([201, 201, 201]);
    const stored = await suite.server.stored(suite.tenant.organizationId, 3);
    expect(stored.map(({ message, event_id }) => [message, event_id])).toEqual([
      ["m 1", "i/1"],
      ["m 2", "i/2"],
      ["m 3", "i/3"],
    ]);
  });

  test("takes packed bodies, integers as they are, the index of the path and parameters of clients", async () => {
    const body = Bun.gzipSync(
      new TextEncoder().encode('{"create":{}}\n{"message":"packed","n":9223372036854775807}\n'),
    );
    expect(
      (
        await answerOf(
          await post("/web-2026/_bulk?filter_path=errors,items.*.error&refresh=true", body, {
            "content-encoding": "gzip",
            "content-type": "application/json; charset=UTF-8",
          }),
        )
      ).items[0]?.create?._index,
    ).toBe("web-2026");
    expect(await suite.server.stored(suite.tenant.organizationId, 1)).toMatchObject([
      { message: "packed", source: "web-2026", attrs: { n: "9223372036854775807" } },
    ]);
  });

  test("answers when every item is refused", async () => {
    const response = await post("/_bulk", '{"delete":{"_index":"i","_id":"1"}}\n{"create":{}}\n{"cut":');
    expect(response.status).toBe(200);
    expect((await answerOf(response)).items).toMatchObject([
      { delete: { status: 400 } },
      { create: { status: 400, error: { type: "document_parsing_exception" } } },
    ]);
  });

  test.each(["", "no bulk request", '{"create":{}}\n{"message":"m"}\nnonsense\n'])(
    "refuses a body that is none and suite.stores nothing of it: %j",
    async (body) => {
      const response = await post("/_bulk", body);
      expect([response.status, JSON.parse(await response.text())]).toMatchObject([
        400,
        { code: "VALIDATION_FAILED", error: expect.any(String) },
      ]);
      expect(await suite.server.stored(suite.tenant.organizationId, 0)).toEqual([]);
    },
  );

  test("refuses a small body whose answer would be large, before it suite.stores anything", async () => {
    const pairs = (count: number): Uint8Array<ArrayBuffer> =>
      Bun.gzipSync(new TextEncoder().encode('{"index":{}}\n{}\n'.repeat(count)));
    const send = (index: string, count: number): Promise<Response> =>
      post(`/${index}/_bulk`, pairs(count), { "content-encoding": "gzip" });
    const response = await send("i".repeat(255), 100_000);
    expect([response.status, JSON.parse(await response.text())]).toMatchObject([
      400,
      { code: "VALIDATION_FAILED", fields: [{ code: "too_big" }] },
    ]);
    expect(await suite.server.stored(suite.tenant.organizationId, 0)).toEqual([]);
    const answered = await send("i".repeat(255), 1_000);
    expect((await answerOf(answered)).items).toHaveLength(1_000);
  });

  test("counts at least the bytes that its items take", async () => {
    const awkward = '\\u0001\\"é😀'.repeat(20);
    const body =
      '{"index":{"_index":"NAME","_id":"NAME"}}\n{}\n{"delete":{"_index":"NAME"}}\n{"create":{}}\n[]\n'
        .replaceAll("NAME", awkward)
        .repeat(50);
    const bulk = new ElasticsearchBulk("logs");
    const reserved: number[] = [];
    const requestId = "r".repeat(64);
    const decoder = new AnsweredBulk(bulk, requestId, (bytes) => reserved.push(bytes));
    const batch = new LogBatch();
    const writer = new RecordWriter();
    batch.beginRequest(1, 0);
    writer.open(batch, new Set());
    decoder.decode(new TextEncoder().encode(body), writer);
    decoder.decode(new TextEncoder().encode(body), writer);
    const items = (await answerOf(await post("/_bulk", body, { "x-request-id": requestId }))).items;
    expect(items).toHaveLength(150);
    expect(reserved).toHaveLength(1);
    const bytes = Buffer.byteLength(JSON.stringify(items));
    expect(decoder.bytes).toBeGreaterThanOrEqual(bytes - 2);
    expect(decoder.bytes).toBeLessThan(1.1 * bytes);
    const idBytes = Buffer.byteLength(JSON.stringify(awkward));
    expect(reserved[0]).toBeGreaterThan(50 * idBytes);
    const texts = [...decoder.texts(1)];
    expect(JSON.parse(texts.join("")).items).toEqual(items);
    // One item at a time, so that others have the thread between two of them.
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(3 * idBytes + 300);
  });

  test("needs a token that may write logs, and no log line has it", async () => {
    expect((await post("/_bulk", "", { authorization: "" })).status).toBe(401);
    const reader = await makeTenant(suite.stores, ["logs:read"]);
    expect((await post("/_bulk", "", { authorization: `Bearer ${reader.token}` })).status).toBe(403);
    expect(suite.server.logged().join("\n")).not.toContain(suite.tenant.token);
  });
});

test("the answer to many actions is sent while it is made", async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `{"delete":{"_id":"${i}"}}\n`).join("");
  const response = await post("/web/_bulk", lines);
  expect(response.headers.get("content-length")).toBeNull();
  const { errors, items } = await answerOf(response);
  expect([response.status, errors, items.length]).toEqual([200, true, 20_000]);
  expect(items[19_999]).toMatchObject({ delete: { status: 400, _index: "web", _id: "19999" } });
});

test("an answer that is remembered is repeated as it was", async () => {
  const headers = { "idempotency-key": crypto.randomUUID() };
  const body = '{"create":{"_id":"k1"}}\n{"message":"kept once"}\n{"delete":{"_id":"k2"}}\n';
  const first = await answerOf(await post("/web/_bulk", body, headers));
  const repeated = await post("/web/_bulk", body, headers);
  expect(repeated.headers.get("idempotent-replayed")).toBe("true");
  expect(await answerOf(repeated)).toEqual(first);
});

test("a body that is large enough for another thread is answered item by item and stored", async () => {
  const message = "x".repeat(4000);
  const lines = Array.from({ length: 100 }, (_, i) =>
    i === 7
      ? `{"index":{"_id":"7"}}\n{"message":\n`
      : `{"create":{"_id":"${i}"}}\n${JSON.stringify({ message: `${String(i).padStart(3, "0")} ${message}` })}\n`,
  );
  for (const repetition of [1, 2]) {
    const response = await post("/web/_bulk", lines.join(""));
    const { errors, items } = await answerOf(response);
    expect([repetition, response.status, errors, items.length]).toEqual([repetition, 200, true, 100]);
    expect(items[7]).toMatchObject({ index: { status: 400, _index: "web", _id: "7" } });
    expect(items[8]).toMatchObject({ create: { status: 201, _index: "web", _id: "8" } });
  }
  const stored = await suite.server.stored(suite.tenant.organizationId, 99);
  expect(stored.map(({ event_id }) => event_id)).toEqual(
    Array.from({ length: 100 }, (_, i) => `web/${i}`).filter((id) => id !== "web/7"),
  );
});

/** Large bodies and the thread that decodes them, with the real write-ahead log. */
import { afterEach, expect, spyOn, test } from "bun:test";
import { DecodeThread } from "../../../ingest/apart/decode-thread.ts";
import type { CommittedBatch } from "../../../ingest/committed-batches.ts";
import { CommittedBlock } from "../../../ingest/committed-block.ts";
import { NativeFormat } from "../../../ingest/decode/native.ts";
import { OtlpJsonDecoder } from "../../../ingest/decode/otlp/otlp-json.ts";
import { requestKeys } from "../../../ingest/dedupe/request-keys.ts";
import { IngestKeyReusedError, IngestRejectedError, IngestUnavailableError } from "../../../ingest/errors.ts";
import { type Ingest, openIngest } from "../../../ingest/ingest.ts";
import type { IngestRequest } from "../../../ingest/ingest-request.ts";
import { DECODE_IN_PLACE_MAX_BYTES, OTLP_DECODE_IN_PLACE_MAX_BYTES } from "../../../ingest/limits.ts";
import { RecordWriter } from "../../../ingest/record/record-writer.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

const encoder = new TextEncoder();
const format = new NativeFormat();
const nothing = (): void => undefined;
const open: { ingest: Ingest; directory: ReturnType<typeof temporaryDirectory> }[] = [];

afterEach(async () => {
  for (const { ingest, directory } of open.splice(0)) {
    await ingest.close(0);
    directory[Symbol.dispose]();
  }
});

async function openOne(
  committed: (batch: CommittedBatch) => void = nothing,
  maxInFlightBytes = 64 * 1024 * 1024,
): Promise<Ingest> {
  const directory = temporaryDirectory();
  const ingest = await openIngest({
    directory: directory.path,
    // What this suite looks at is what is durable.
    store: { find: () => Promise.resolve(new Map()), insert: () => Promise.resolve() },
    observer: {
      decoded: nothing,
      committed: nothing,
      commitFailed: nothing,
      inserted: nothing,
      insertFailed: nothing,
      releaseFailed: nothing,
    },
    instance: 1,
    walMaxBytes: 128 * 1024 * 1024,
    maxInFlightBytes,
    dedupeWindowMs: 60_000,
    dedupeMaxKeys: 100_000,
    now: Date.now,
    committed: { committed },
    onFatal: (error) => {
      throw error;
    },
  });
  open.push({ ingest, directory });
  return ingest;
}

function requestOf(entries: readonly object[]): IngestRequest {
  const body = encoder.encode(JSON.stringify(entries));
  expect(body.length).toBeGreaterThan(DECODE_IN_PLACE_MAX_BYTES);
  return {
    organizationId: 1,
    format: "native",
    bytes: body.length,
    keys: null,
    decode: (batch, skip) => format.decode(body, batch, skip),
    apart: { spec: { kind: "native" }, body },
  };
}

function smallRequest(message: string): IngestRequest {
  const body = encoder.encode(JSON.stringify([{ message }]));
  const decode: IngestRequest["decode"] = (batch, skip) => format.decode(body, batch, skip);
  return { organizationId: 1, format: "native", bytes: body.length, keys: null, decode };
}

const entry = (id: number): object => ({ message: `m${id} ${"x".repeat(1000)}`, event_id: `e${id}` });
const entries = (from: number, to: number): object[] =>
  Array.from({ length: to - from }, (_, i) => entry(from + i));

test("others get their turn before a large body is refused", async () => {
  const ingest = await openOne();
  const attrs = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`key${i}`, i]));
  let turns = 0;
  const refused = ingest.ingest(requestOf([{ message: "m", attrs }]));
  setImmediate(() => turns++);
  const issues = await refused.then(
    () => [],
    (error: unknown) => (error instanceof IngestRejectedError ? error.issues : []),
  );
  expect(issues).toEqual([{ path: "/0/attrs", code: "too_big", message: "at most 256 attributes" }]);
  expect(turns).toBe(1);
});

test("a large body is stored once, without the entries that are stored already", async () => {
  const stored: string[] = [];
  const ingest = await openOne(({ block }) => {
    const read = new CommittedBlock(block);
    for (let row = 0; row < read.rows; row++) stored.push(read.eventId(row));
  });
  expect(await ingest.ingest(requestOf(entries(0, 400)))).toMatchObject({ accepted: 400, duplicates: 0 });
  expect(await ingest.ingest(requestOf(entries(100, 500)))).toMatchObject({ accepted: 400, duplicates: 300 });
  expect(stored).toEqual(Array.from({ length: 500 }, (_, i) => `e${i}`));
});

test("large bodies at the same time do not count as in flight while they wait, and are all stored", async () => {
  const ingest = await openOne(nothing, 512 * 1024);
  const requests = Array.from({ length: 6 }, (_, i) => requestOf(entries(i * 400, (i + 1) * 400)));
  const results = await Promise.all(requests.map((request) => ingest.ingest(request)));
  expect(results).toEqual(requests.map(() => ({ accepted: 400, duplicates: 0, replayed: false })));
});

test("bodies larger than a batch are stored beside small ones, each entry once, with ids that grow", async () => {
  const stored: { message: string; organizationId: number; id: bigint; receivedAt: number }[] = [];
  const ingest = await openOne(({ block, organizations, lastId }) => {
    const read = new CommittedBlock(block);
    for (let row = 0; row < read.rows; row++) {
      const [message = ""] = read.messageText(row).split(" ");
      const organizationId = read.organizationId(row);
      expect(organizations.has(organizationId)).toBe(true);
      stored.push({ message, organizationId, id: read.id(row), receivedAt: Number(read.receivedAt(row)) });
    }
    expect(stored.at(-1)?.id).toBe(lastId);
  });
  const startMs = Date.now();
  const text = "x".repeat(8000);
  const large = (name: string): object[] =>
    Array.from({ length: 400 }, (_, i) => ({ message: `${name}${i} ${text}`, attrs: { i, text } }));
  const small = Array.from({ length: 20 }, (_, i) => smallRequest(`small${i}`));
  const results = await Promise.all([
    ingest.ingest(requestOf(large("a"))),
    ...small.map((request) => ingest.ingest(request)),
    ingest.ingest({ ...requestOf(large("b")), organizationId: 2 }),
    ingest.ingest(requestOf(large("c"))),
  ]);
  expect(results.map(({ accepted }) => accepted)).toEqual([400, ...small.map(() => 1), 400, 400]);
  const ids = stored.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted((one, other) => (one < other ? -1 : 1)));
  expect(new Set(ids).size).toBe(ids.length);
  const sent = ["a", "b", "c"].flatMap((name) => Array.from({ length: 400 }, (_, i) => `${name}${i}`));
  const all = [...sent, ...small.map((_, i) => `small${i}`)];
  expect(stored.map(({ message }) => message).toSorted()).toEqual(all.toSorted());
  expect(stored.filter(({ organizationId }) => organizationId === 2)).toHaveLength(400);
  for (const { receivedAt } of stored) {
    expect(receivedAt).toBeGreaterThanOrEqual(startMs);
    expect(receivedAt).toBeLessThanOrEqual(Date.now());
  }
});

test("what came over from the thread is freed as soon as the request is answered, whatever became of it", async () => {
  const blocks: Uint8Array[] = [];
  const decode = DecodeThread.prototype.decode;
  using _spy = spyOn(DecodeThread.prototype, "decode").mockImplementation(async function (
    this: DecodeThread,
    job,
  ) {
    const body = await decode.call(this, job);
    blocks.push(...body.slices.map(({ bytes }) => bytes));
    return body;
  });
  const ingest = await openOne();
  await ingest.ingest(requestOf(entries(0, 400)));
  const keys = requestKeys(1, "c", "name", encoder.encode("one body"));
  await ingest.ingest({ ...requestOf(entries(400, 800)), keys });
  const others = { ...keys, content: requestKeys(1, "c", "name", encoder.encode("another")).content };
  const refused = ingest.ingest({ ...requestOf(entries(400, 800)), keys: others });
  expect(await refused.catch((error: unknown) => error)).toBeInstanceOf(IngestKeyReusedError);
  expect(blocks.map(({ length }) => length)).toEqual([0, 0, 0]);
});

test("OTLP in JSON is decoded where it came up to a batch of an SDK, and any other body of that size apart", async () => {
  const ingest = await openOne();
  const body = encoder.encode(
    JSON.stringify({
      resourceLogs: [
        {
          scopeLogs: [
            { logRecords: Array.from({ length: 512 }, () => ({ body: { stringValue: "x".repeat(600) } })) },
          ],
        },
      ],
    }),
  );
  expect(body.length).toBeGreaterThan(DECODE_IN_PLACE_MAX_BYTES);
  const places: string[] = [];
  const send = (bytes: Uint8Array, kind: "otlp" | "otlp-protobuf") =>
    ingest.ingest({
      organizationId: 1,
      format: kind,
      bytes: bytes.length,
      keys: null,
      decode: (batch, skip) => {
        places.push("here");
        const writer = new RecordWriter();
        writer.open(batch, skip);
        new OtlpJsonDecoder().decode(bytes, writer);
      },
      apart: { spec: { kind }, body: bytes.slice(), decoded: () => places.push("apart") },
    });
  expect((await send(body, "otlp")).accepted).toBe(512);
  const padded = Buffer.concat([body, Buffer.alloc(OTLP_DECODE_IN_PLACE_MAX_BYTES, " ")]);
  expect((await send(padded, "otlp")).accepted).toBe(512);
  expect(places).toEqual(["here", "apart"]);
  // It is no protobuf, which only the other thread finds out.
  expect(await send(body, "otlp-protobuf").catch((error: unknown) => error)).toBeInstanceOf(
    IngestRejectedError,
  );
  expect(places).toEqual(["here", "apart"]);
});

test("what is not decoded when the thread is closed is refused, and so is what comes after", async () => {
  const thread = new DecodeThread();
  const decode = (): Promise<unknown> =>
    thread
      .decode({
        organizationId: 1,
        keys: null,
        receivedAtMs: 0,
        spec: { kind: "native" },
        body: encoder.encode("[]"),
      })
      .then(
        () => null,
        (error: unknown) => (error instanceof IngestUnavailableError ? error.reason : error),
      );
  const waiting = [decode(), decode()];
  thread.close();
  expect(await Promise.all([...waiting, decode()])).toEqual(["closing", "closing", "closing"]);
});

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DeploymentDrainDecoder } from "../../../../ingest/decode/deployment-drain/drain-decoder.ts";
import { decodeEntries, decodeRequest, RECEIVED_AT_MS } from "../decoded-entries.ts";

const decoder = new DeploymentDrainDecoder();
const SAMPLE = join(import.meta.dir, "../../../../../shared/data/payloads/vercel-log-drain.json");

const RECORD = {
  id: "1573817187330377061717300000",
  deploymentId: "dpl_example",
  source: "lambda",
  host: "shop.example.com",
  timestamp: 1_573_817_187_330,
  projectId: "prj_example",
  projectName: "shop",
  level: "warning",
  message: "cart is empty\n",
  requestId: "643af4e3",
  statusCode: 200,
  path: "/api/cart",
  traceId: "5B8EFFF798038103D269B633813FC60C",
  "span.id": "eee19b7ec3c1b174",
  proxy: {
    timestamp: 1_573_817_250_172,
    method: "POST",
    host: "shop.example.com",
    path: "/api/cart?id=1",
    userAgent: ["Mozilla/5.0"],
    statusCode: 200,
    clientIp: "192.0.2.7",
  },
};

const bodies: readonly (readonly [string, string])[] = [
  ["a JSON array", JSON.stringify([RECORD])],
  ["NDJSON", `${JSON.stringify(RECORD)}\n`],
  ["one object over several lines", JSON.stringify(RECORD, null, 2)],
];

describe("what a program has printed is taken apart", () => {
  const entryOf = (message: string) => {
    const [entry] = decodeEntries(decoder, JSON.stringify({ ...RECORD, message }));
    if (entry === undefined) throw new Error("no entry");
    return entry;
  };

  test("an object, whose time, level and message are its own; the project stays the service", () => {
    const printed = {
      level: 50,
      time: 1_573_817_187_000,
      pid: 7,
      hostname: "fn",
      name: "api",
      msg: "no cart",
    };
    expect(entryOf(`${JSON.stringify(printed)}\n`)).toMatchObject({
      ts: 1_573_817_187_000_000_000n,
      level: "error",
      service: "shop",
      message: "no cart",
      attrs: { level: "warning", timestamp: RECORD.timestamp, pid: 7, path: "/api/cart" },
    });
  });

  test("a line, whose level and logger are its own; a time without a zone is the platform's", () => {
    expect(entryOf("2019-11-15 11:26:27,330 ERROR [main] a.b.C: no cart\n")).toMatchObject({
      ts: 1_573_817_187_330_000_000n,
      level: "error",
      service: "shop",
      message: "no cart",
      attrs: { logger: "a.b.C", level: "warning", "thread.name": "main" },
    });
  });

  test("what is not recognised stays as it is", () => {
    expect(entryOf("START RequestId: 643af4e3\nEND RequestId: 643af4e3\n")).toMatchObject({
      level: "warn",
      message: "START RequestId: 643af4e3\nEND RequestId: 643af4e3",
    });
  });
});

describe("a record of a drain", () => {
  test.each(bodies)("in %s gives its fields to the entry and keeps everything else", (_, body) => {
    expect(decodeEntries(decoder, body)).toEqual([
      {
        ts: 1_573_817_187_330_000_000n,
        eventId: "platform-a:1573817187330377061717300000",
        level: "warn",
        service: "shop",
        source: "lambda",
        host: "shop.example.com",
        message: "cart is empty",
        traceId: "5b8efff798038103d269b633813fc60c",
        spanId: "eee19b7ec3c1b174",
        attrs: {
          id: "1573817187330377061717300000",
          deploymentId: "dpl_example",
          projectId: "prj_example",
          projectName: "shop",
          requestId: "643af4e3",
          statusCode: 200,
          path: "/api/cart",
          "proxy.timestamp": 1_573_817_250_172,
          "proxy.method": "POST",
          "proxy.host": "shop.example.com",
          "proxy.path": "/api/cart?id=1",
          "proxy.userAgent": ["Mozilla/5.0"],
          "proxy.statusCode": 200,
          "proxy.clientIp": "192.0.2.7",
        },
      },
    ]);
  });

  test("without a message is described by its request", () => {
    const { message: _, ...silent } = RECORD;
    expect(decodeEntries(decoder, JSON.stringify([silent]))[0]?.message).toBe("POST /api/cart?id=1 200");
    const bare = { id: "1", proxy: { method: "GET", path: "/" } };
    expect(decodeEntries(decoder, JSON.stringify(bare))[0]?.message).toBe("GET /");
  });

  test.each([
    ["a record of no project", { id: "order-17", timestamp: RECORD.timestamp, message: "order paid" }],
    ["a record without a time", { id: "order-17", projectId: "prj_example", message: "order paid" }],
    ["a record that says nothing", { id: "order-17", projectId: "prj_example", timestamp: RECORD.timestamp }],
  ])("has an id that tells repetitions; that of %s is an attribute like any other", (_, other) => {
    const [entry] = decodeEntries(decoder, JSON.stringify([other]));
    expect([entry?.eventId, entry?.attrs.id]).toEqual([undefined, "order-17"]);
    const { message: _message, ...silent } = RECORD;
    expect(decodeEntries(decoder, JSON.stringify(silent))[0]?.eventId).toBe(`platform-a:${RECORD.id}`);
  });

  test("of an unknown kind is kept as it is", () => {
    expect(decodeEntries(decoder, '{"schema":"analytics","eventName":"view"}')).toEqual([
      {
        ts: BigInt(RECEIVED_AT_MS) * 1_000_000n,
        message: '{"schema":"analytics","eventName":"view"}',
        attrs: { schema: "analytics", eventName: "view" },
      },
    ]);
  });

  test("with fields of unexpected types loses none of them", () => {
    const [entry] = decodeEntries(
      decoder,
      '[{"id":17,"timestamp":"soon","level":{"a":1},"message":["x"],"source":3,"proxy":"none","projectId":null}]',
    );
    expect(entry?.eventId).toBeUndefined();
    expect(entry?.attrs).toEqual({
      id: 17,
      timestamp: "soon",
      "level.a": 1,
      message: ["x"],
      source: 3,
      proxy: "none",
      projectId: null,
    });
  });
});

describe("what is no record", () => {
  test("of an array is rejected by itself, with its place", () => {
    const { entries, rejections } = decodeRequest(decoder, '[{"message":"a"},17,null,[{}],{"message":"b"}]');
    expect(entries.map(({ message }) => message)).toEqual(["a", "b"]);
    expect(rejections).toEqual([
      { place: "/1", reason: "is no JSON object", raw: "17" },
      { place: "/2", reason: "is no JSON object", raw: "null" },
      { place: "/3", reason: "is no JSON object", raw: "[{}]" },
    ]);
  });

  test("among lines is rejected by itself, with its line", () => {
    const { entries, rejections } = decodeRequest(
      decoder,
      '{"message":"a"}\noops\n{"message":\n{"message":"b"}\n',
    );
    expect(entries.map(({ message }) => message)).toEqual(["a", "b"]);
    expect(rejections.map(({ place, raw }) => [place, raw])).toEqual([
      ["line 2", "oops"],
      ["line 3", '{"message":'],
    ]);
  });

  test.each([
    ["an array that was cut off", '[{"message":"a"},{"mess'],
    ["text", "hello"],
    ["a page", "<html></html>"],
    ["bytes that are no text", new Uint8Array([0x7b, 0xff, 0x7d])],
  ])("refuses a body that is %s", (_, body) => {
    expect(decodeRequest(decoder, body).refusal).not.toBeNull();
  });
});

test.if(existsSync(SAMPLE))("the platform's own sample gives two entries", () => {
  const entries = decodeEntries(decoder, readFileSync(SAMPLE));
  expect(
    entries.map(({ level, source, service, attrs }) => [level, source, service, attrs["proxy.region"]]),
  ).toEqual([
    ["info", "lambda", "gdufoJxB6b9b1fEqr1jUtFkyavUU", "sfo1"],
    ["error", "lambda", "gdufoJxB6b9b1fEqr1jUtFkyavUU", "lhr1"],
  ]);
  expect(entries[0]?.ts).toBe(1_573_817_187_330_000_000n);
});

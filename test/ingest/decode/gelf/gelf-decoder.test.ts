import { describe, expect, test } from "bun:test";
import { GelfDecoder, RelayedGelf } from "../../../../ingest/decode/gelf/gelf-decoder.ts";
import { RelayedFrames } from "../../../../ingest/decode/syslog/relayed-frames.ts";
import { decodeEntries, decodeRequest, RECEIVED_AT_MS } from "../decoded-entries.ts";

const gelf = new GelfDecoder();
const RECEIVED_AT = BigInt(RECEIVED_AT_MS) * 1_000_000n;
const encoder = new TextEncoder();

describe("a message", () => {
  test("becomes an entry with all it says", () =>
    expect(
      decodeEntries(
        gelf,
        '{"version":"1.1","host":"web-1","short_message":"failed é","full_message":"failed é\\n at x","timestamp":1769903998.123,"level":3,"facility":"gate","_user_id":17,"_service":"shop","_trace_id":"0af7651916cd43dd8448eb211c80319c"}',
      ),
    ).toEqual([
      {
        ts: 1769903998123000000n,
        message: "failed é",
        level: "error",
        service: "shop",
        host: "web-1",
        traceId: "0af7651916cd43dd8448eb211c80319c",
        attrs: { user_id: 17, facility: "gate", full_message: "failed é\n at x" },
      },
    ]));

  test.each([
    ['{"short_message":"m","level":"4"}', { message: "m", level: "warn", attrs: {} }],
    ['{"short_message":"m","level":"ERROR"}', { message: "m", level: "error", attrs: {} }],
    [
      '{"short_message":"m","level":9,"timestamp":"never"}',
      { message: "m", attrs: { level: 9, timestamp: "never" } },
    ],
    ['{"short_message":"m","full_message":"m\\n"}', { message: "m", attrs: {} }],
    ['{"full_message":"only"}', { message: "only", attrs: {} }],
    ['{"version":"2","host":""}', { message: "", attrs: { version: "2" } }],
    [
      '{"short_message":"{\\"msg\\":\\"in\\",\\"level\\":\\"warn\\"}","level":6,"_container_name":"db"}',
      { message: "in", level: "warn", service: "db", attrs: { container_name: "db" } },
    ],
  ])("%s", (body, expected) => expect(decodeEntries(gelf, body)).toEqual([{ ts: RECEIVED_AT, ...expected }]));
});

test("a line that Docker read from a program says its own level; any other text stays as it is", () => {
  const line = "2026-01-02 03:04:05,678 ERROR [main] com.shop.Cart - cannot pay";
  const sent = { short_message: line, level: 6, timestamp: 1769903998.5 };
  const docker = { ...sent, _container_id: "8d4d", _container_name: "shop" };
  const attrs = {
    "thread.name": "main",
    logger: "com.shop.Cart",
    container_id: "8d4d",
    container_name: "shop",
  };
  const ts = 1769903998500000000n;
  expect(decodeEntries(gelf, JSON.stringify(docker))).toEqual([
    // Its time names no zone, so that it is the driver's.
    { ts, message: "cannot pay", level: "error", service: "shop", attrs },
  ]);
  expect(decodeEntries(gelf, JSON.stringify(sent))).toEqual([
    { ts, message: line, level: "info", attrs: {} },
  ]);
  const zoned = { ...docker, short_message: "2026-01-02T03:04:05Z WARN late" };
  expect(decodeEntries(gelf, JSON.stringify(zoned))).toMatchObject([
    { ts: 1767323045000000000n, message: "late", level: "warn", service: "shop" },
  ]);
  expect(decodeEntries(gelf, JSON.stringify({ ...docker, short_message: "as it is" }))).toMatchObject([
    { ts, message: "as it is", level: "info", service: "shop" },
  ]);
});

test("messages that follow one another are read, and what is no object is rejected by itself", () => {
  const { entries, rejections } = decodeRequest(
    gelf,
    '{"short_message":"a"}\n{"short_message":"b"}\nnonsense\n',
  );
  expect(entries.map(({ message }) => message)).toEqual(["a", "b"]);
  expect(rejections).toMatchObject([{ reason: "is no JSON object", raw: "nonsense" }]);
});

test("what listeners gather has its sender's address for a host; what cannot be read is rejected as it came", () => {
  const frames = new RelayedFrames();
  for (const text of ['{"short_message":"a"}', '{"short_message":"b","host":"own"}', '{"cut":', "[]"])
    frames.add("192.0.2.7", encoder.encode(text));
  const { entries, rejections } = decodeRequest(new RelayedGelf(), frames.take());
  expect(entries).toMatchObject([
    { message: "a", host: "192.0.2.7" },
    { message: "b", host: "own" },
  ]);
  expect(rejections.map(({ place, raw }) => [place, raw])).toEqual([
    ["/2", '{"cut":'],
    ["/3", "[]"],
  ]);
});

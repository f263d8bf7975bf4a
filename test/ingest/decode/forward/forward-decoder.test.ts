import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { ForwardDecoder } from "../../../../ingest/decode/forward/forward-decoder.ts";
import { encodeValue } from "../../../../ingest/decode/forward/message-pack.ts";
import { chunkOf } from "../../../../ingest/decode/forward/message-parts.ts";
import { decodeEntries, decodeRequest } from "../decoded-entries.ts";

const forward = new ForwardDecoder();
const TIME = 1_769_903_998;
/** Seconds and nanoseconds as an extension. */
const eventTime = Buffer.from([0xd7, 0, ...new Uint8Array(new Uint32Array([0]).buffer), 0, 0, 0, 0]);
eventTime.writeUInt32BE(TIME, 2);
eventTime.writeUInt32BE(123_456_789, 6);
const events = ["a", "b"].map((message) =>
  Buffer.concat([Buffer.from([0x92]), eventTime, encodeValue({ message, level: "warn" })]),
);
const packed = Buffer.concat(events);
const asText = Buffer.concat([Buffer.from([0x92, 0xa1, 0x74, 0xd9, packed.length]), packed]);
const EXPECTED = ["a", "b"].map((message) => ({
  message,
  level: "warn",
  source: "t",
  ts: 1769903998123456789n,
}));

describe("events are the same in every mode", () => {
  test.each([
    ["a list", Buffer.concat([Buffer.from([0x92, 0xa1, 0x74, 0x92]), ...events])],
    ["bytes", encodeValue(["t", new Uint8Array(packed), { size: 2 }])],
    ["bytes as a text", asText],
    ["packed bytes", encodeValue(["t", new Uint8Array(gzipSync(packed)), { compressed: "gzip" }])],
    [
      "single",
      Buffer.concat(
        ["a", "b"].map((message) =>
          Buffer.concat([
            Buffer.from([0x93, 0xa1, 0x74]),
            eventTime,
            encodeValue({ message, level: "warn" }),
          ]),
        ),
      ),
    ],
  ])("%s", (_, body) => expect(decodeEntries(forward, body)).toMatchObject(EXPECTED));
});

test("a record keeps what it says, a line of JSON is taken apart, and metadata is kept", () => {
  const body = Buffer.concat([
    encodeValue(["t", [[TIME, { message: "m", deep: { a: [1] }, bytes: new Uint8Array([0x78]) }]]]),
    encodeValue([
      "t",
      [[[TIME, { origin: "k8s" }], { log: '{"msg":"in","level":"error"}', stream: "stderr" }]],
    ]),
  ]);
  expect(decodeEntries(forward, body)).toMatchObject([
    { message: "m", attrs: { "deep.a": [1], bytes: "x" } },
    { message: "in", level: "error", attrs: { stream: "stderr", "metadata.origin": "k8s" } },
  ]);
});

test("a line that Docker read from a program is taken apart, and one of anybody else stays as it is", () => {
  const log = "2026-01-02 03:04:05,678 ERROR [main] com.shop.Cart - cannot pay";
  const body = encodeValue([
    "t",
    [
      [TIME, { container_id: "0123", container_name: "/shop", source: "stdout", log }],
      [TIME, { stream: "stdout", log }],
    ],
  ]);
  const ts = BigInt(TIME) * 1_000_000_000n;
  const attrs = { "thread.name": "main", logger: "com.shop.Cart", container_id: "0123", source: "stdout" };
  expect(decodeEntries(forward, body)).toMatchObject([
    // Its time names no zone, so that it is the driver's.
    { ts, message: "cannot pay", level: "error", service: "shop", source: "t", attrs },
    { ts, message: log, source: "t" },
  ]);
});

test("the container that Docker's driver names is the service, unless the record names one", () => {
  const body = encodeValue([
    "t",
    [
      [TIME, { container_id: "0123", container_name: "/checkout", source: "stderr", log: "a" }],
      [TIME, { container_name: "/checkout", log: '{"msg":"b","service":"orders"}' }],
    ],
  ]);
  expect(decodeEntries(forward, body)).toMatchObject([
    { message: "a", service: "checkout", attrs: { container_name: "/checkout" } },
    { message: "b", service: "orders" },
  ]);
});

test("what is no event is rejected by itself; packs that are damaged or too large are as a whole", () => {
  const body = Buffer.concat([
    encodeValue(["t", [[TIME, { message: "a" }], 7]]),
    encodeValue([7, TIME, {}]),
    encodeValue("x"),
    encodeValue(["t", new Uint8Array([1, 2, 3]), { compressed: "gzip" }]),
    encodeValue(["t", new Uint8Array(gzipSync(new Uint8Array(21 * 1024 * 1024))), { compressed: "gzip" }]),
    encodeValue(["t", new Uint8Array([...encodeValue([TIME, { message: "b" }]), 0x92]), {}]),
  ]);
  const { entries, rejections } = decodeRequest(forward, body);
  expect(entries.map(({ message }) => message)).toEqual(["a", "b"]);
  expect(rejections.map(({ place }) => place)).toEqual(["/0/1", "/1", "/2", "/3", "/4", "/5/1"]);
});

test("a message that is cut off anywhere refuses the body", () => {
  const body = encodeValue(["t", TIME, { message: "m", deep: { a: [1] } }]);
  for (let length = 1; length < body.length; length++)
    expect(decodeRequest(forward, body.subarray(0, length)).refusal).not.toBeNull();
});

test.each([
  [
    "a list",
    encodeValue([
      "t",
      [
        [TIME, 7],
        [TIME, { message: "good" }],
      ],
    ]),
  ],
  [
    "bytes",
    encodeValue([
      "t",
      new Uint8Array([...encodeValue([TIME, 7]), ...encodeValue([TIME, { message: "good" }])]),
    ]),
  ],
])(
  "an event that cannot be read is kept as a message of its own, which a later reader can take: %s",
  (_, body) => {
    const [rejection, ...others] = decodeRequest(forward, body).rejections;
    expect(others).toEqual([]);
    expect(rejection?.raw).toBe(new TextDecoder().decode(encodeValue(["t", TIME, 7])));
  },
);

test("what a sender wants acknowledged is found in every mode, and in nothing else", () => {
  const events = [[TIME, { message: "m", chunk: "not this" }]];
  const option = { chunk: "c1" };
  const bytes = new Uint8Array(encodeValue(events[0]));
  for (const body of [
    ["t", events, option],
    ["t", bytes, option],
    ["t", TIME, { chunk: "no" }, option],
  ])
    expect(chunkOf(encodeValue(body))).toBe("c1");
  for (const body of [["t", events], ["t", bytes, {}], ["t", TIME, option], ["t"], [], "t", { chunk: "c" }])
    expect(chunkOf(encodeValue(body))).toBeNull();
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (any) => void chunkOf(any)));
});

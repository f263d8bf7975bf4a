import { describe, expect, test } from "bun:test";
import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { GelfDatagrams } from "../../../../../src/domains/logs/receive/gelf/datagrams.ts";
import {
  CHUNKS_WAIT_MS,
  MESSAGE_MAX_BYTES,
  PARTIAL_MAX_COUNT,
} from "../../../../../src/domains/logs/receive/gelf/limits.ts";

const encoder = new TextEncoder();
const text = encoder.encode('{"short_message":"m"}');

function chunk(id: number, position: number, count: number, bytes: Uint8Array): Uint8Array {
  const head = Buffer.alloc(12);
  head.set([0x1e, 0x0f]);
  head.writeDoubleBE(id, 2);
  head.set([position, count], 10);
  return Buffer.concat([head, bytes]);
}

describe("a datagram", () => {
  test.each([
    ["plain", text],
    ["gzip", gzipSync(text)],
    ["zlib", deflateSync(text)],
  ])("is a message: %s", (_, datagram) =>
    expect(Buffer.from(new GelfDatagrams(() => 0).read(datagram, "p") ?? []).equals(text)).toBe(true),
  );

  test.each([
    ["a pack that is cut off", gzipSync(text).subarray(0, -9)],
    ["a pack of too much", gzipSync(new Uint8Array(MESSAGE_MAX_BYTES + 1))],
    ["a chunk without content", chunk(1, 0, 2, new Uint8Array(0))],
    ["a chunk of none", chunk(1, 0, 0, text)],
    ["a chunk beyond the last", chunk(1, 2, 2, text)],
    ["a chunk of more than there may be", chunk(1, 0, 129, text)],
  ])("cannot be read: %s", (_, datagram) =>
    expect(new GelfDatagrams(() => 0).read(datagram, "p")).toBeUndefined(),
  );
});

describe("chunks", () => {
  test("become the message in whatever order they come, among those of others and doubled", () =>
    fc.assert(
      fc.property(
        fc
          .uint8Array({ minLength: 1, maxLength: 60 })
          .filter((bytes) => bytes[0] === 0x7b || bytes.fill(0x7b, 0, 1).length > 0),
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.nat(), { minLength: 60, maxLength: 60 }),
        (bytes, size, ranks) => {
          const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
            bytes.subarray(i * size, (i + 1) * size),
          );
          const datagrams = new GelfDatagrams(() => 0);
          const order = parts.map((_, i) => i).sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0));
          const answers = order.flatMap((position, i) => {
            const own = chunk(7, position, parts.length, parts[position] ?? new Uint8Array(0));
            datagrams.read(chunk(8, 0, 3, text), "p");
            datagrams.read(chunk(7, 0, 3, text), "another");
            const isLast = i === order.length - 1;
            return isLast ? [datagrams.read(own, "p")] : [datagrams.read(own, "p"), datagrams.read(own, "p")];
          });
          expect(answers.slice(0, -1).every((answer) => answer === null)).toBe(true);
          expect(Buffer.from(answers.at(-1) ?? []).equals(bytes)).toBe(true);
        },
      ),
    ));

  test("that come too late are no part of the message", () => {
    let now = 0;
    const datagrams = new GelfDatagrams(() => now);
    expect(datagrams.read(chunk(1, 0, 2, text), "p")).toBeNull();
    now = CHUNKS_WAIT_MS;
    expect(datagrams.read(chunk(1, 1, 2, text), "p")).toBeNull();
    expect(datagrams.read(chunk(1, 0, 2, text), "p")).not.toBeNull();
  });

  test("of the oldest message are given up when too many wait", () => {
    const datagrams = new GelfDatagrams(() => 0);
    for (let id = 0; id < PARTIAL_MAX_COUNT + 5; id++) datagrams.read(chunk(id, 0, 2, text), "p");
    expect(datagrams.read(chunk(PARTIAL_MAX_COUNT + 4, 1, 2, text), "p")).not.toBeNull();
    expect(datagrams.read(chunk(0, 1, 2, text), "p")).toBeNull();
  });
});

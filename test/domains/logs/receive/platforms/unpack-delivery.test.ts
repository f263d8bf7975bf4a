import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { readDeliveryEnvelope } from "../../../../../ingest/index.ts";
import {
  type DeliveryPortion,
  ownBody,
} from "../../../../../src/domains/logs/receive/platforms/delivery-portions.ts";
import {
  PORTION_BYTES,
  RECORD_UNPACKED_MAX_BYTES,
  RECORD_WORK_BYTES,
  TURN_BYTES,
  UNPACKING_WORK_BYTES,
} from "../../../../../src/domains/logs/receive/platforms/limits.ts";
import { unpackDelivery } from "../../../../../src/domains/logs/receive/platforms/unpack-delivery.ts";
import { ApiError } from "../../../../../src/errors.ts";
import { MAX_INLINE_UNPACK_BYTES, UNPACKING_MAX_RUNNING } from "../../../../../src/http/limits.ts";
import { UnpackTurn } from "../../../../../src/http/unpack-turns.ts";
import { recordsOf } from "./portion-records.ts";

function unpackAll(
  payloads: readonly Uint8Array[],
  reserveMemory = (_: number): void => undefined,
  unpackTurn = new UnpackTurn(1),
) {
  const records = payloads.map((payload) => ({ data: Buffer.from(payload).toString("base64") }));
  return unpackDelivery(readDeliveryEnvelope(Buffer.from(JSON.stringify({ requestId: "r", records }))), {
    reserveMemory,
    unpackTurn,
  }).finally(() => unpackTurn.release());
}

/** The data of every record, as the decoder of the portions will see them. */
function dataOf(portions: readonly DeliveryPortion[]): Buffer[] {
  return portions.flatMap((portion) => recordsOf(portion).map(({ data }) => data));
}

/** Noise does not pack, so that the stream is above what is unpacked on the spot. */
const NOISE = randomBytes(2 * MAX_INLINE_UNPACK_BYTES);
const BOMB = gzipSync(Buffer.alloc(RECORD_UNPACKED_MAX_BYTES + 1));

/** What comes of the work, and how often others had the thread while it went on. */
async function countingTurns<T>(work: () => Promise<T>): Promise<{ made: T; turns: number }> {
  let turns = 0;
  const turn = (): void => {
    turns++;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  try {
    return { made: await work(), turns };
  } finally {
    clearImmediate(next);
  }
}

describe("the records of a delivery", () => {
  test("are unpacked where they are packed, and each keeps its bytes", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.boolean()), { maxLength: 8 }),
        async (payloads) => {
          const plain = payloads.filter(([bytes, isPacked]) => isPacked || bytes[0] !== 0x1f);
          const portions = await unpackAll(
            plain.map(([bytes, isPacked]) => (isPacked ? gzipSync(bytes) : bytes)),
          );
          expect(dataOf(portions)).toEqual(plain.map(([bytes]) => Buffer.from(bytes)));
        },
      ),
      { numRuns: 50 },
    ));

  test("that are not packed stay where they lie, and what is given away of them is a copy of one portion", async () => {
    const payloads = Array.from({ length: 9 }, (_, i) => Buffer.alloc(PORTION_BYTES / 4 + i, 97 + i));
    const records = payloads.map((payload) => ({ data: payload.toString("base64") }));
    const envelope = readDeliveryEnvelope(Buffer.from(JSON.stringify({ requestId: "r", records })));
    const unpackTurn = new UnpackTurn(1);
    const portions = await unpackDelivery(envelope, { reserveMemory: () => undefined, unpackTurn });
    expect(portions.length).toBe(3);
    for (const portion of portions) {
      expect(portion.body.buffer).toBe(envelope.data.buffer);
      const own = ownBody(portion);
      expect(own.buffer.byteLength).toBe(portion.body.length);
      expect(Buffer.from(own).equals(portion.body)).toBe(true);
    }
    expect(dataOf(portions)).toEqual(payloads);
  });

  test("are divided into portions, always the same, and every byte is reserved", async () => {
    const payloads = Array.from({ length: 9 }, (_, i) => Buffer.alloc(PORTION_BYTES / 4 + i, 97 + i));
    let reserved = 0;
    const portions = await unpackAll(
      payloads.map((payload) => gzipSync(payload)),
      (bytes) => {
        reserved += bytes;
      },
    );
    expect(portions.map((portion) => recordsOf(portion).length)).toEqual([3, 3, 3]);
    expect(dataOf(portions)).toEqual(payloads);
    expect(reserved).toBe(payloads.reduce((sum, { length }) => sum + length, 0));
    expect((await unpackAll(payloads)).map(({ body }) => body.length)).toEqual(
      portions.map(({ body }) => body.length),
    );
  });

  test("that cannot be unpacked stay as they came, with the reason", async () => {
    const corrupt = gzipSync("corrupt").subarray(0, 12);
    const portions = await unpackAll([Buffer.from("a"), BOMB, corrupt]);
    expect(portions.flatMap(recordsOf).map(({ problem }) => problem)).toEqual([
      null,
      `unpacks to more than ${RECORD_UNPACKED_MAX_BYTES} bytes`,
      "is not one whole gzip stream",
    ]);
    expect(dataOf(portions).map(({ length }) => length)).toEqual([1, BOMB.length, corrupt.length]);
  });

  test.each([
    ["plain", Buffer.from("a line"), RECORD_WORK_BYTES],
    ["packed", gzipSync("a line"), UNPACKING_WORK_BYTES],
  ])(
    "of which there are many, as short and %s as they are, leave others a turn",
    async (_form, record, work) => {
      const count = Math.ceil((3 * TURN_BYTES) / work);
      const { made, turns } = await countingTurns(() =>
        unpackAll(Array.from({ length: count }, () => record)),
      );
      expect(dataOf(made)).toHaveLength(count);
      expect(turns).toBeGreaterThanOrEqual(3);
    },
  );

  test("that are many bombs are refused, with a status that makes the sender keep them", async () => {
    const refusal = await unpackAll(Array.from({ length: 1_000 }, () => BOMB)).catch(
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(ApiError);
    expect(refusal).toMatchObject({ code: "VALIDATION_FAILED" });
  });

  test("that are damaged count as much as they may have unpacked to, and other requests are served meanwhile", async () => {
    const damaged = (bytes: Uint8Array): Uint8Array => {
      const packed = gzipSync(bytes);
      packed[packed.length - 5] = (packed.at(-5) ?? 0) ^ 1;
      return packed;
    };
    const record = damaged(Buffer.alloc(RECORD_UNPACKED_MAX_BYTES - 1));
    const { made, turns } = await countingTurns(() => unpackAll(Array.from({ length: 4 }, () => record)));
    expect(made.flatMap(recordsOf).map(({ problem }) => problem)).toEqual(
      Array.from({ length: 4 }, () => "is not one whole gzip stream"),
    );
    expect(turns).toBeGreaterThanOrEqual(4);
    const many = unpackAll(Array.from({ length: 20 }, () => record));
    expect(await many.catch((error: unknown) => error)).toMatchObject({ code: "VALIDATION_FAILED" });
    // What surely is little work counts as little.
    const small = damaged(Buffer.from("a few bytes"));
    const portions = await unpackAll(Array.from({ length: 100 }, () => small));
    expect(portions.flatMap(recordsOf)).toHaveLength(100);
  });

  test("of which a long one is damaged at its end take no memory for what was thrown away", async () => {
    const packed = gzipSync(randomBytes(2_000_000)).subarray(0, -1);
    let reserved = 0;
    await unpackAll(
      Array.from({ length: 5 }, () => packed),
      (bytes) => {
        reserved += bytes;
      },
    );
    expect(reserved).toBeLessThanOrEqual(6 * packed.length);
  });

  test("stop when there is no memory for them", async () => {
    const full = new ApiError("UNAVAILABLE", "full");
    let room = 1_000_000;
    const unpacking = unpackAll([gzipSync(randomBytes(2_000_000))], (bytes) => {
      room -= bytes;
      if (room < 0) throw full;
    });
    expect(await unpacking.catch((error: unknown) => error)).toBe(full);
    expect(room).toBe(-1_000_000);
  });

  test("stop when there is no memory for the first", async () => {
    const full = new ApiError("UNAVAILABLE", "full");
    const unpacking = unpackAll([Buffer.from("a")], () => {
      throw full;
    });
    expect(await unpacking.catch((error: unknown) => error)).toBe(full);
  });

  test("are unpacked by requests that were packed themselves, however many of these there are", async () => {
    const turns = Array.from({ length: UNPACKING_MAX_RUNNING }, () => new UnpackTurn(1));
    for (const turn of turns) await turn.take(1);
    const portions = await Promise.all(turns.map((turn) => unpackAll([gzipSync(NOISE)], undefined, turn)));
    expect(portions.map(dataOf)).toEqual(turns.map(() => [NOISE]));
  });

  test("are refused as a whole, and none is taken for a broken one, where one has no room", async () => {
    const full = new ApiError("RATE_LIMITED", "full");
    let calls = 0;
    const unpacking = unpackAll([gzipSync(NOISE)], () => {
      calls++;
      if (calls === 1) throw full;
    });
    expect(await unpacking.catch((error: unknown) => error)).toBe(full);
  });
});

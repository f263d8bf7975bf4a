import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import * as zlib from "node:zlib";
import fc from "fast-check";
import { ApiError } from "../../src/errors.ts";
import { allowedMs } from "../../src/http/body-pace.ts";
import {
  COPY_SLICE_BYTES,
  MAX_INLINE_UNPACK_BYTES,
  MAX_WHOLE_READ_BYTES,
  UNPACKING_MAX_RUNNING,
  UNPACKING_MAX_WAITING_BYTES,
} from "../../src/http/limits.ts";
import { type BodyLimits, readBody, withReadBody } from "../../src/http/read-body.ts";
import { parseJson, readJson } from "../../src/http/read-json.ts";
import { CONTENT_ENCODINGS } from "../../src/http/unpack.ts";
import { UnpackTurn } from "../../src/http/unpack-turns.ts";
import { eventually } from "../harness/eventually.ts";

const LIMITS: BodyLimits = {
  maxPackedBytes: 50_000,
  maxUnpackedBytes: 100_000,
  encodings: CONTENT_ENCODINGS,
};
const TEXT = Buffer.from("a line of a log, and another one\n".repeat(100));
const PACKERS: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array<ArrayBuffer>>> = {
  gzip: (bytes) => new Uint8Array(zlib.gzipSync(bytes)),
  deflate: (bytes) => new Uint8Array(zlib.deflateSync(bytes)),
  "bare deflate": (bytes) => new Uint8Array(zlib.deflateRawSync(bytes)),
  zstd: (bytes) => new Uint8Array(zlib.zstdCompressSync(bytes)),
  "zstd with a checksum": (bytes) =>
    new Uint8Array(zlib.zstdCompressSync(bytes, { params: { [zlib.constants.ZSTD_c_checksumFlag]: 1 } })),
};
const packers = Object.entries(PACKERS).map(([name, pack]) => [name, encodingOf(name), pack] as const);

function encodingOf(name: string): string {
  return /gzip|deflate|zstd/.exec(name)?.[0] ?? "";
}

function bodyOf(
  body: Uint8Array<ArrayBuffer> | ReadableStream,
  headers: Record<string, string> = {},
): Request {
  return new Request("http://localhost/", { method: "POST", body, headers });
}

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

/** So many bytes at once and then every few milliseconds; endless unless the pieces are counted. */
function tricklingBody(bytes: number, pieces = Number.POSITIVE_INFINITY): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        if (sent === pieces) return controller.close();
        if (sent > 0) await Bun.sleep(5);
        sent += 1;
        controller.enqueue(new Uint8Array(bytes));
      },
    },
    { highWaterMark: 0 },
  );
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "none";
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

describe("packed bodies that are not small", () => {
  // Noise does not pack, so that the body is above what is unpacked on the spot.
  const noise = randomBytes(70_000);
  const LARGE: BodyLimits = { ...LIMITS, maxPackedBytes: 200_000, maxUnpackedBytes: 10_000_000 };

  test.each(packers)("are given up when there is no room for them: %s", async (_, encoding, pack) => {
    const packed = pack(Buffer.concat([noise, Buffer.alloc(5_000_000)]));
    const full = new ApiError("UNAVAILABLE", "full");
    const reserved: number[] = [];
    const reading = readBody(bodyOf(packed, { "content-encoding": encoding }), LARGE, (bytes) => {
      reserved.push(bytes);
      if (bytes > packed.length) throw full;
    });
    expect(await reading.catch((error: unknown) => error)).toBe(full);
    expect(reserved.at(-1)).toBe(noise.length + 5_000_000);
  });

  test("come in one piece that nobody copied, in a buffer that can be given away", async () => {
    const plain = Buffer.concat([noise, Buffer.alloc(5_000_000)]);
    // Two streams one behind the other are one body.
    for (const packed of [
      zlib.gzipSync(plain),
      Buffer.concat([zlib.gzipSync(noise), zlib.gzipSync(plain)]),
    ]) {
      const body = await readBody(bodyOf(new Uint8Array(packed), { "content-encoding": "gzip" }), LARGE);
      expect(Buffer.from(body.subarray(-plain.length)).equals(plain)).toBe(true);
      expect([body.byteOffset, body.buffer.byteLength]).toEqual([0, LARGE.maxUnpackedBytes + 1]);
    }
  });

  test("unpack a few at a time, the others wait packed, and whoever sends many holds up only itself", async () => {
    const packed = new Uint8Array(zlib.gzipSync(noise));
    const headers = { "content-encoding": "gzip" };
    const unpacked: string[] = [];
    const read = async (owner: string): Promise<UnpackTurn> => {
      const turn = new UnpackTurn(owner);
      await readBody(bodyOf(packed, headers), LARGE, undefined, turn);
      unpacked.push(owner);
      return turn;
    };
    const owners = [...Array.from({ length: 6 }, () => "many"), "few"];
    const turns = owners.map(read);
    for (let done = 0; done < owners.length; done++) {
      const expected = Math.min(done + UNPACKING_MAX_RUNNING, owners.length);
      await eventually("bodies are unpacked", () => unpacked.length === expected);
      const ready = await Promise.race(turns.splice(0, 1));
      ready?.release();
    }
    expect(unpacked.indexOf("few")).toBeLessThanOrEqual(UNPACKING_MAX_RUNNING + 1);
  });

  test("are refused beyond the packed bytes that may wait, of one organisation and of all", async () => {
    const held = Array.from({ length: UNPACKING_MAX_RUNNING }, () => new UnpackTurn("a"));
    for (const turn of held) await turn.take(1);
    const share = UNPACKING_MAX_WAITING_BYTES / 2;
    const waiting: [UnpackTurn, Promise<void>][] = [];
    const wait = async (owner: string, bytes: number): Promise<string> => {
      const turn = new UnpackTurn(owner);
      const taken = turn.take(bytes);
      waiting.push([turn, taken]);
      return Promise.race([codeOf(taken), nextTurn("waits")]);
    };
    expect(await wait("a", share)).toBe("waits");
    expect(await wait("a", 1)).toBe("RATE_LIMITED");
    expect(await wait("b", share / 2)).toBe("waits");
    expect(await wait("c", share / 2)).toBe("UNAVAILABLE");
    for (const turn of held) turn.release();
    for (const [turn, taken] of waiting) {
      await taken.catch(() => undefined);
      turn.release();
    }
  });

  test("are refused before they come when there is no room for them, which whoever ends leaves to others", async () => {
    const bytes = UNPACKING_MAX_WAITING_BYTES / 2;
    const limits = { ...LIMITS, maxPackedBytes: bytes };
    const first = new UnpackTurn("a");
    first.expect(bytes);
    const coming = tricklingBody(bytes);
    const headers = { "content-encoding": "gzip", "content-length": String(bytes) };
    const second = new UnpackTurn("a");
    expect(await codeOf(readBody(bodyOf(coming, headers), limits, undefined, second))).toBe("RATE_LIMITED");
    expect(coming.locked).toBe(false);
    first.release();
    second.expect(bytes);
    // What was unpacked waits no more, though the request goes on.
    await second.take(bytes);
    const third = new UnpackTurn("a");
    third.expect(bytes);
    for (const turn of [second, third]) turn.release();
  });

  test("are not unpacked once their caller has gone away, and the turn goes on", async () => {
    const held = Array.from({ length: UNPACKING_MAX_RUNNING }, () => new UnpackTurn("a"));
    for (const turn of held) await turn.take(1);
    const caller = new AbortController();
    const gone = new UnpackTurn("a", caller.signal).take(1);
    const next = new UnpackTurn("a");
    const nextTaken = next.take(1);
    caller.abort();
    held[0]?.release();
    expect(await codeOf(gone)).toBe("UNAVAILABLE");
    expect(await codeOf(nextTaken)).toBe("none");
    // Given back twice, as by a request that ends after its turn was passed on, a turn is still one.
    for (const turn of [...held, next]) turn.release();
    const again = Array.from({ length: UNPACKING_MAX_RUNNING + 1 }, () => new UnpackTurn("a"));
    const taken = again.map((turn) => turn.take(1));
    expect(await Promise.race([taken.at(-1)?.then(() => "taken"), nextTurn("waits")])).toBe("waits");
    for (const turn of again) turn.release();
    await Promise.all(taken);
    for (const turn of again) turn.release();
  });
});

test("a JSON body has a bound of its own, unless its route says otherwise", async () => {
  const large = new TextEncoder().encode(JSON.stringify({ text: "x".repeat(1024 * 1024) }));
  const headers = { "content-type": "application/json", "content-length": String(large.length) };
  expect(await codeOf(readJson(bodyOf(large, headers), {}))).toBe("PAYLOAD_TOO_LARGE");
  expect(await codeOf(readJson(bodyOf(large, headers), { maxBytes: large.length }))).toBe("none");
});

describe("a body that is not packed", () => {
  test("comes out as it went in, with a length, in chunks and absent", async () => {
    const length = { "content-length": String(TEXT.length) };
    expect(Buffer.from(await readBody(bodyOf(new Uint8Array(TEXT), length), LIMITS))).toEqual(TEXT);
    const chunks = [TEXT.subarray(0, 10), TEXT.subarray(10, 11), TEXT.subarray(11)];
    expect(Buffer.from(await readBody(bodyOf(streamOf(chunks)), LIMITS))).toEqual(TEXT);
    expect(await readBody(new Request("http://localhost/", { method: "POST" }), LIMITS)).toHaveLength(0);
  });

  test("comes out as it went in when what came before anybody read it is one large piece", async () => {
    const bytes = new Uint8Array(randomBytes(COPY_SLICE_BYTES * 3 + 17));
    const pieces = [bytes.subarray(0, COPY_SLICE_BYTES * 2 + 5), bytes.subarray(COPY_SLICE_BYTES * 2 + 5)];
    const limits = { ...LIMITS, maxUnpackedBytes: bytes.length };
    const length = { "content-length": String(bytes.length) };
    for (const headers of [undefined, length]) {
      const read = await readBody(bodyOf(streamOf(pieces), headers), limits);
      expect(Buffer.compare(read, bytes)).toBe(0);
    }
  });

  test("is refused past its limit, whether it says its length, lies about it or does not", async () => {
    const limits = { ...LIMITS, maxUnpackedBytes: 100 };
    const big = new Uint8Array(101);
    expect(await codeOf(readBody(bodyOf(big, { "content-length": "101" }), limits))).toBe(
      "PAYLOAD_TOO_LARGE",
    );
    expect(await codeOf(readBody(bodyOf(big, { "content-length": "5" }), limits))).toBe("PAYLOAD_TOO_LARGE");
    expect(await codeOf(readBody(bodyOf(big), limits))).toBe("PAYLOAD_TOO_LARGE");
    expect(await codeOf(readBody(bodyOf(new Uint8Array(100)), limits))).toBe("none");
  });

  test("that never ends is cut off at the limit", async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1000;
        controller.enqueue(new Uint8Array(1000));
      },
    });
    expect(await codeOf(readBody(bodyOf(endless), LIMITS))).toBe("PAYLOAD_TOO_LARGE");
    expect(sent).toBeLessThan(LIMITS.maxUnpackedBytes * 2);
  });

  test("that does not arrive in time is given up, whether or not it was announced", async () => {
    const limits = { ...LIMITS, pace: { timeoutMs: 20, graceMs: 10_000, minBytesPerSec: 1 } };
    const silent = () => new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
    expect(await codeOf(readBody(bodyOf(silent()), limits))).toBe("REQUEST_TIMEOUT");
    expect(await codeOf(readBody(bodyOf(silent(), { "content-length": "5" }), limits))).toBe(
      "REQUEST_TIMEOUT",
    );
  });

  test("that trickles is given up long before its time is over, whatever it announced", async () => {
    const pace = { timeoutMs: 600_000, graceMs: 50, minBytesPerSec: 1_000_000 };
    for (const announced of [undefined, "10", String(MAX_WHOLE_READ_BYTES + 1)]) {
      const headers = announced === undefined ? {} : { "content-length": announced };
      const reading = readBody(bodyOf(tricklingBody(1), headers), { ...LIMITS, pace });
      const error = await reading.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "REQUEST_TIMEOUT", headers: { connection: "close" } });
    }
  });

  test("that is slow and keeps the pace is read to its end", async () => {
    // The first piece is there at once, and each of its bytes is worth a second.
    const pace = { timeoutMs: 600_000, graceMs: 1, minBytesPerSec: 1 };
    const reading = readBody(bodyOf(tricklingBody(600, 10)), { ...LIMITS, pace });
    expect(await reading).toHaveLength(6000);
  });

  test("may take its grace, and as long as its bytes are worth, and no longer than any body", () => {
    const pace = { timeoutMs: 60_000, graceMs: 5_000, minBytesPerSec: 1024 };
    expect(allowedMs(pace, 0)).toBe(5_000);
    expect(allowedMs(pace, 10 * 1024)).toBe(15_000);
    expect(allowedMs(pace, 10 * 2 ** 20)).toBe(60_000);
  });

  test("that breaks off is the caller's fault", async () => {
    const broken = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array(10));
        controller.error(new Error("connection reset"));
      },
    });
    expect(await codeOf(readBody(bodyOf(broken), LIMITS))).toBe("VALIDATION_FAILED");
  });

  test("is reserved before it is held, and packed ones unpacked as well", async () => {
    const reserved: number[] = [];
    const reserve = (bytes: number) => {
      reserved.push(bytes);
    };
    await readBody(bodyOf(new Uint8Array(10), { "content-length": "10" }), LIMITS, reserve);
    await readBody(bodyOf(streamOf([new Uint8Array(3), new Uint8Array(4)])), LIMITS, reserve);
    const packed = new Uint8Array(zlib.gzipSync(TEXT));
    const headers = { "content-encoding": "gzip", "content-length": String(packed.length) };
    await readBody(bodyOf(packed, headers), LIMITS, reserve);
    expect(reserved).toEqual([10, 0, 3, 4, packed.length, TEXT.length]);
  });
});

test("a body for which there is no room is refused before any of it is read", async () => {
  const full = new ApiError("RATE_LIMITED", "full");
  let pulled = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(1000));
      },
    },
    { highWaterMark: 0 },
  );
  const reading = readBody(bodyOf(body, { "content-length": "90000" }), LIMITS, () => {
    throw full;
  });
  expect(await reading.catch((error: unknown) => error)).toBe(full);
  expect(pulled).toBe(0);
});

describe.each(packers)("a body packed with %s", (_name, encoding, pack) => {
  const headers = { "content-encoding": encoding };
  const packed = pack(TEXT);

  test("is unpacked, also when it is large or empty", async () => {
    expect(Buffer.from(await readBody(bodyOf(packed, headers), LIMITS))).toEqual(TEXT);
    expect(await readBody(bodyOf(pack(new Uint8Array(0)), headers), LIMITS)).toHaveLength(0);
    const noise = crypto.getRandomValues(new Uint8Array(60_000));
    const large = new Uint8Array([...noise, ...noise]);
    const limits = { ...LIMITS, maxPackedBytes: 1_000_000, maxUnpackedBytes: 1_000_000 };
    expect(await readBody(bodyOf(pack(large), headers), limits)).toEqual(large);
  });

  test("is refused when more comes out than the limit, even by one byte", async () => {
    const exact = { ...LIMITS, maxUnpackedBytes: TEXT.length };
    expect(await codeOf(readBody(bodyOf(packed, headers), exact))).toBe("none");
    const short = { ...LIMITS, maxUnpackedBytes: TEXT.length - 1 };
    expect(await codeOf(readBody(bodyOf(packed, headers), short))).toBe("PAYLOAD_TOO_LARGE");
    const bomb = pack(new Uint8Array(50_000_000));
    expect(await codeOf(readBody(bodyOf(bomb, headers), { ...LIMITS, maxPackedBytes: 1e6 }))).toBe(
      "PAYLOAD_TOO_LARGE",
    );
  });

  test("is refused by one byte also when it is unpacked in other threads", async () => {
    const noise = crypto.getRandomValues(new Uint8Array(2 * MAX_INLINE_UNPACK_BYTES));
    const exact = { ...LIMITS, maxPackedBytes: 1_000_000, maxUnpackedBytes: noise.length };
    expect(await codeOf(readBody(bodyOf(pack(noise), headers), exact))).toBe("none");
    const short = { ...exact, maxUnpackedBytes: noise.length - 1 };
    expect(await codeOf(readBody(bodyOf(pack(noise), headers), short))).toBe("PAYLOAD_TOO_LARGE");
  });

  test("is refused when more comes in than the limit", async () => {
    const limits = { ...LIMITS, maxPackedBytes: packed.length - 1 };
    expect(await codeOf(readBody(bodyOf(packed, headers), limits))).toBe("PAYLOAD_TOO_LARGE");
  });

  test("is refused when it is cut at any byte or followed by anything", async () => {
    for (let length = 0; length < packed.length; length++) {
      const cut = new Uint8Array(packed.subarray(0, length));
      expect(await codeOf(readBody(bodyOf(cut, headers), LIMITS))).toBe("VALIDATION_FAILED");
    }
    const followed = new Uint8Array([...packed, 1, 2, 3]);
    expect(await codeOf(readBody(bodyOf(followed, headers), LIMITS))).toBe("VALIDATION_FAILED");
  });

  test("never yields anything but bytes or a coded error, however it is damaged", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), fc.nat(packed.length), async (noise, at) => {
        const damaged = new Uint8Array([
          ...packed.subarray(0, at),
          ...noise,
          ...packed.subarray(at + noise.length),
        ]);
        const code = await codeOf(readBody(bodyOf(damaged, headers), LIMITS));
        expect(["none", "VALIDATION_FAILED", "PAYLOAD_TOO_LARGE"]).toContain(code);
      }),
      { numRuns: 300 },
    );
  });
});

describe("content encodings", () => {
  test.each(["br", "compress", "gzip, gzip", "snappy", "gzip;q=1"])("%s is refused", async (encoding) => {
    const request = bodyOf(new Uint8Array(1), { "content-encoding": encoding });
    expect(await codeOf(readBody(request, LIMITS))).toBe("UNSUPPORTED_MEDIA_TYPE");
  });

  test("are read without regard to case, and identity is none", async () => {
    const packed = new Uint8Array(zlib.gzipSync(TEXT));
    expect(await readBody(bodyOf(packed, { "content-encoding": "GZIP" }), LIMITS)).toHaveLength(TEXT.length);
    expect(await readBody(bodyOf(packed, { "content-encoding": "identity" }), LIMITS)).toHaveLength(
      packed.length,
    );
  });

  test("that a route does not take are refused", async () => {
    const request = bodyOf(new Uint8Array(zlib.gzipSync(TEXT)), { "content-encoding": "gzip" });
    expect(await codeOf(readBody(request, { ...LIMITS, encodings: [] }))).toBe("UNSUPPORTED_MEDIA_TYPE");
  });

  test("a zstd window beyond 8 MB is refused before it is allocated", async () => {
    const params = { [zlib.constants.ZSTD_c_windowLog]: 27, [zlib.constants.ZSTD_c_contentSizeFlag]: 0 };
    const wide = new Uint8Array(zlib.zstdCompressSync(new Uint8Array(20_000_000), { params }));
    const request = bodyOf(wide, { "content-encoding": "zstd" });
    expect(await codeOf(readBody(request, { ...LIMITS, maxUnpackedBytes: 30_000_000 }))).toBe(
      "VALIDATION_FAILED",
    );
  });
});

describe("JSON", () => {
  const parse = (text: string) => parseJson(Buffer.from(text));

  test("means what JSON.parse says", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 300 },
    );
  });

  test("may nest 64 levels and no deeper; brackets in strings do not count", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    expect(parse(nested(64))).toBeArray();
    expect(() => parse(nested(65))).toThrow(ApiError);
    expect(() => parse("[".repeat(5_000_000))).toThrow("nested deeper");
    expect(() => parse('{"a":'.repeat(100_000))).toThrow("nested deeper");
    expect(parse(JSON.stringify("[{".repeat(1000)))).toBe("[{".repeat(1000));
    expect(parse(JSON.stringify('\\"[{'.repeat(1000)))).toBe('\\"[{'.repeat(1000));
  });

  test.each(["", "{", "nul", "{'a':1}", "NaN", "[1,]", "\u0000", '"\\', "{}{}"])("%j is refused", (text) => {
    expect(() => parse(text)).toThrow(ApiError);
  });

  test("is refused when it is not UTF-8", () => {
    expect(() => parseJson(Uint8Array.of(0x22, 0xff, 0x22))).toThrow("UTF-8");
  });

  test("names like __proto__ are fields like any other", () => {
    const value = parse('{"__proto__":{"polluted":true},"a":1,"a":2}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value).toMatchObject({ a: 2 });
    expect(Object.keys(Object(value))).toContain("__proto__");
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe("a body that was read before", () => {
  const limits: BodyLimits = {
    maxPackedBytes: 8_000_000,
    maxUnpackedBytes: 8_000_000,
    encodings: CONTENT_ENCODINGS,
  };
  const request = bodyOf(new Uint8Array(1), { "content-length": "1", "x-a": "b" });
  const bytes = new Uint8Array(randomBytes(3_000_000));

  test("is the same memory when it is read again, and reserves none", async () => {
    const reserve = (): never => {
      throw new Error("reserved");
    };
    const restored = withReadBody(request, bytes);
    expect(await readBody(restored, limits, reserve)).toBe(bytes);
    expect(restored.headers.get("x-a")).toBe("b");
    await expect(readBody(restored, limits)).rejects.toThrow("read twice");
  });

  test("is unpacked, and held to the limits of whoever reads it again", async () => {
    const packed = bodyOf(new Uint8Array(1), { "content-encoding": "gzip" });
    expect(await readBody(withReadBody(packed, new Uint8Array(zlib.gzipSync(bytes))), limits)).toEqual(bytes);
    const small = { ...limits, maxUnpackedBytes: 100 };
    expect(await codeOf(readBody(withReadBody(request, bytes), small))).toBe("PAYLOAD_TOO_LARGE");
  });

  test("comes as a stream, too, whole or empty", async () => {
    expect(new Uint8Array(await withReadBody(request, bytes).arrayBuffer())).toEqual(bytes);
    expect(withReadBody(request, new Uint8Array(0)).body).toBeNull();
    expect(await readBody(withReadBody(request, new Uint8Array(0)), limits)).toHaveLength(0);
  });
});

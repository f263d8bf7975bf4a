import * as zlib from "node:zlib";
import { ApiError } from "../errors.ts";
import { BodyBytes } from "./body-bytes.ts";
import { MAX_INLINE_UNPACK_BYTES } from "./limits.ts";
import { findZstdFault } from "./zstd-frames.ts";

export const CONTENT_ENCODINGS = ["gzip", "deflate", "zstd"] as const;
export type ContentEncoding = (typeof CONTENT_ENCODINGS)[number];

interface UnpackOptions {
  readonly maxOutputLength: number;
  readonly chunkSize: number;
  /** Makes zlib answer how much of its input it used, too. */
  readonly info: true;
}

interface Codec {
  readonly unpackSync: (packed: Uint8Array, options: UnpackOptions) => unknown;
  readonly stream: (options: {
    readonly chunkSize: number;
  }) => zlib.Gunzip | zlib.Inflate | zlib.ZstdDecompress;
}

/** Output grows in steps of this many bytes; a typical batch of logs fits in a few. */
const CHUNK_BYTES = 64 * 1024;

/** How many times its size a body of logs unpacks to as a rule; it only decides how much is allocated at first. */
const EXPECTED_RATIO = 16;

/**
 * Bodies in the thread pool, or unpacked and not yet answered, at a time: the pool has four threads, each body takes up to
 * 20 MiB and a window of up to 8 MiB, and those that wait take less memory packed.
 */
const UNPACKING_MAX_RUNNING = 4;

/** Packed bytes that wait for it: with those that are unpacked they leave a third of the memory of bodies to others. */
const UNPACKING_MAX_WAITING_BYTES = 96 * 1024 * 1024;

/**
 * Unpacks a whole body. `reserve` is told of the output as it is made and may throw. Throws PAYLOAD_TOO_LARGE as soon as
 * more than `maxBytes` come out, VALIDATION_FAILED for a stream that is corrupt, truncated or followed by something
 * else, as half a batch must never pass for a whole one, and UNAVAILABLE when too many bodies wait. A large body counts
 * among those that are being unpacked until `untilDone` calls back, which is when it is no longer held.
 */
export async function unpack(
  packed: Uint8Array,
  encoding: ContentEncoding,
  maxBytes: number,
  reserve: (bytes: number) => void,
  untilDone: (callback: () => void) => void = atOnce,
): Promise<Uint8Array> {
  const codec = codecOf(packed, encoding);
  if (encoding === "zstd" && findZstdFault(packed) !== undefined) throw corrupt(encoding);
  let output: Output;
  if (packed.length <= MAX_INLINE_UNPACK_BYTES) {
    output = unpackAtOnce(codec, packed, encoding, maxBytes);
    reserve(output.bytes.length);
  } else {
    await turnToUnpack(packed.length);
    try {
      output = await unpackInThreadPool(codec, packed, encoding, maxBytes, reserve);
    } finally {
      untilDone(passTurnOn);
    }
  }
  // The runtime ignores whatever follows the end of a deflate stream.
  if (encoding === "deflate" && output.bytesRead < packed.length) throw corrupt(encoding);
  return output.bytes;
}

interface Output {
  readonly bytes: Uint8Array;
  /** Packed bytes that it was made of. */
  readonly bytesRead: number;
}

/** The error of a body that is larger than the route takes. */
export function tooLarge(maxBytes: number): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", `The body must not be larger than ${maxBytes} bytes.`);
}

function codecOf(packed: Uint8Array, encoding: ContentEncoding): Codec {
  switch (encoding) {
    case "gzip":
      return { unpackSync: zlib.gunzipSync, stream: zlib.createGunzip };
    case "zstd":
      return { unpackSync: zlib.zstdDecompressSync, stream: zlib.createZstdDecompress };
    case "deflate":
      return hasZlibHeader(packed)
        ? { unpackSync: zlib.inflateSync, stream: zlib.createInflate }
        : { unpackSync: zlib.inflateRawSync, stream: zlib.createInflateRaw };
  }
}

/** RFC 9110 means the zlib format (RFC 1950) by `deflate`; many clients send the bare stream instead. */
function hasZlibHeader(packed: Uint8Array): boolean {
  const [method = 0, flags = 0] = packed;
  return (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0;
}

function unpackAtOnce(codec: Codec, packed: Uint8Array, encoding: ContentEncoding, maxBytes: number): Output {
  let result: unknown;
  try {
    result = codec.unpackSync(packed, { maxOutputLength: maxBytes, chunkSize: CHUNK_BYTES, info: true });
  } catch (error) {
    throw isTooLarge(error) ? tooLarge(maxBytes) : corrupt(encoding, error);
  }
  const { buffer, engine } = asInflated(result);
  return { bytes: buffer, bytesRead: engine.bytesWritten };
}

/** As a stream, whose output is counted before there is more of it. */
function unpackInThreadPool(
  codec: Codec,
  packed: Uint8Array,
  encoding: ContentEncoding,
  maxBytes: number,
  reserve: (bytes: number) => void,
): Promise<Output> {
  return new Promise((resolve, reject) => {
    const stream = codec.stream({ chunkSize: CHUNK_BYTES });
    const output = new BodyBytes(Math.min(maxBytes, packed.length * EXPECTED_RATIO));
    const fail = (error: unknown): void => {
      stream.destroy();
      reject(error);
    };
    stream.on("data", (chunk: Uint8Array) => {
      // The stream may have something left to say after it was given up.
      if (stream.destroyed) return;
      try {
        if (output.length + chunk.length > maxBytes) throw tooLarge(maxBytes);
        reserve(chunk.length);
        output.add(chunk);
      } catch (error) {
        fail(error);
      }
    });
    stream.on("error", (error) => fail(corrupt(encoding, error)));
    stream.on("end", () => resolve({ bytes: output.whole(), bytesRead: stream.bytesWritten }));
    stream.end(packed);
  });
}

const waiting: { readonly begin: () => void; readonly bytes: number }[] = [];
let waitingBytes = 0;
let running = 0;

/** Resolves when few enough bodies are being unpacked, in the order they came. */
async function turnToUnpack(bytes: number): Promise<void> {
  if (running < UNPACKING_MAX_RUNNING) {
    running++;
    return;
  }
  if (waitingBytes + bytes > UNPACKING_MAX_WAITING_BYTES)
    throw new ApiError("UNAVAILABLE", "Too many bodies are being unpacked.", { retryAfterSeconds: 1 });
  waitingBytes += bytes;
  await new Promise<void>((begin) => waiting.push({ begin, bytes }));
}

function passTurnOn(): void {
  const next = waiting.shift();
  if (next === undefined) {
    running--;
    return;
  }
  waitingBytes -= next.bytes;
  next.begin();
}

function atOnce(callback: () => void): void {
  callback();
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}

/** What zlib answers when asked for `info`; the type declarations do not know that option's effect. */
function asInflated(result: unknown): { buffer: Uint8Array; engine: { bytesWritten: number } } {
  if (typeof result === "object" && result !== null && "buffer" in result && "engine" in result) {
    const { buffer, engine } = result;
    if (
      buffer instanceof Uint8Array &&
      typeof engine === "object" &&
      engine !== null &&
      "bytesWritten" in engine
    ) {
      return { buffer, engine: { bytesWritten: Number(engine.bytesWritten) } };
    }
  }
  throw new TypeError("zlib answered in an unknown shape");
}

function corrupt(encoding: ContentEncoding, cause?: unknown): ApiError {
  const message = `is not one whole ${encoding} stream`;
  return new ApiError("VALIDATION_FAILED", `The body ${message}.`, {
    fields: [{ path: "", code: "custom", message }],
    cause,
  });
}

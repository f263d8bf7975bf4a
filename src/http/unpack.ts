import * as zlib from "node:zlib";
import { ApiError } from "../errors.ts";
import { MAX_INLINE_UNPACK_BYTES } from "./limits.ts";
import { UnpackTurn } from "./unpack-turns.ts";
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

/** Output of a small body grows in steps of this many bytes; a typical batch of logs fits in a few. */
const CHUNK_BYTES = 64 * 1024;

/** Whose turn it is to unpack what no request of an organisation brings. */
const OWN_TURN = "nobody";

/**
 * Unpacks a whole body. `reserve` is told of the output when it is there and may throw. Throws PAYLOAD_TOO_LARGE when more
 * than `maxBytes` come out, VALIDATION_FAILED for a stream that is corrupt, truncated or followed by something else, as
 * half a batch must never pass for a whole one, and UNAVAILABLE when too many bodies wait. For a large body `turn` is
 * taken, which whoever passes it releases; without one it is a turn of its own.
 */
export async function unpack(
  packed: Uint8Array,
  encoding: ContentEncoding,
  maxBytes: number,
  reserve: (bytes: number) => void,
  turn?: UnpackTurn,
): Promise<Uint8Array> {
  const codec = codecOf(packed, encoding);
  if (encoding === "zstd" && findZstdFault(packed) !== undefined) throw corrupt(encoding);
  const output =
    packed.length <= MAX_INLINE_UNPACK_BYTES
      ? unpackAtOnce(codec, packed, encoding, maxBytes)
      : await unpackInTurn(codec, packed, encoding, maxBytes, turn);
  reserve(output.bytes.length);
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

async function unpackInTurn(
  codec: Codec,
  packed: Uint8Array,
  encoding: ContentEncoding,
  maxBytes: number,
  turn: UnpackTurn | undefined,
): Promise<Output> {
  const own = turn ?? new UnpackTurn(OWN_TURN);
  await own.take(packed.length);
  try {
    return await unpackInThreadPool(codec, packed, encoding, maxBytes);
  } finally {
    if (turn === undefined) own.release();
  }
}

/**
 * Into one buffer that has room for all that may come out, so that this thread neither copies it nor hears of it before
 * the end. Memory that is not written to is not taken.
 */
function unpackInThreadPool(
  codec: Codec,
  packed: Uint8Array,
  encoding: ContentEncoding,
  maxBytes: number,
): Promise<Output> {
  return new Promise((resolve, reject) => {
    const stream = codec.stream({ chunkSize: Math.max(maxBytes + 1, CHUNK_BYTES) });
    let bytes: Uint8Array = new Uint8Array(0);
    stream.on("data", (piece: Uint8Array) => {
      // The stream may have something left to say after it was given up.
      if (stream.destroyed) return;
      const { buffer, byteOffset } = bytes.length === 0 ? piece : bytes;
      const isNext = bytes.length === 0 || piece.byteOffset === byteOffset + bytes.length;
      if (piece.buffer !== buffer || !isNext) throw new Error("unpacked bytes are not in one piece");
      bytes = new Uint8Array(buffer, byteOffset, bytes.length + piece.length);
      if (bytes.length <= maxBytes) return;
      // Whoever hears of it may free the packed bytes, which the thread pool reads until the stream is closed.
      stream.once("close", () => reject(tooLarge(maxBytes)));
      stream.destroy();
    });
    stream.on("error", (error) => reject(corrupt(encoding, error)));
    stream.on("end", () => resolve({ bytes, bytesRead: stream.bytesWritten }));
    stream.end(packed);
  });
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

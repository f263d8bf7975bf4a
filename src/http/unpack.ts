import * as zlib from "node:zlib";
import { ApiError } from "../errors.ts";
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
  readonly unpack: (
    packed: Uint8Array,
    options: UnpackOptions,
    done: (error: Error | null, result: unknown) => void,
  ) => void;
}

/** Output grows in steps of this many bytes; a typical batch of logs fits in a few. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Unpacks a whole body. Throws PAYLOAD_TOO_LARGE as soon as more than `maxBytes` come out, and VALIDATION_FAILED for
 * a stream that is corrupt, truncated or followed by something else: half a batch must never pass for a whole one.
 */
export async function unpack(
  packed: Uint8Array,
  encoding: ContentEncoding,
  maxBytes: number,
): Promise<Uint8Array> {
  const codec = codecOf(packed, encoding);
  if (encoding === "zstd" && findZstdFault(packed) !== undefined) throw corrupt(encoding);
  const options: UnpackOptions = { maxOutputLength: maxBytes, chunkSize: CHUNK_BYTES, info: true };
  let result: unknown;
  try {
    const isSmall = packed.length <= MAX_INLINE_UNPACK_BYTES;
    result = isSmall ? codec.unpackSync(packed, options) : await unpackInThreadPool(codec, packed, options);
  } catch (error) {
    throw isTooLarge(error) ? tooLarge(maxBytes) : corrupt(encoding, error);
  }
  const { buffer, engine } = asInflated(result);
  // The runtime ignores whatever follows the end of a deflate stream.
  if (encoding === "deflate" && engine.bytesWritten < packed.length) throw corrupt(encoding);
  return buffer;
}

/** The error of a body that is larger than the route takes. */
export function tooLarge(maxBytes: number): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", `The body must not be larger than ${maxBytes} bytes.`);
}

function codecOf(packed: Uint8Array, encoding: ContentEncoding): Codec {
  switch (encoding) {
    case "gzip":
      return { unpackSync: zlib.gunzipSync, unpack: zlib.gunzip };
    case "zstd":
      return { unpackSync: zlib.zstdDecompressSync, unpack: zlib.zstdDecompress };
    case "deflate":
      return hasZlibHeader(packed)
        ? { unpackSync: zlib.inflateSync, unpack: zlib.inflate }
        : { unpackSync: zlib.inflateRawSync, unpack: zlib.inflateRaw };
  }
}

/** RFC 9110 means the zlib format (RFC 1950) by `deflate`; many clients send the bare stream instead. */
function hasZlibHeader(packed: Uint8Array): boolean {
  const [method = 0, flags = 0] = packed;
  return (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0;
}

function unpackInThreadPool(codec: Codec, packed: Uint8Array, options: UnpackOptions): Promise<unknown> {
  return new Promise((resolve, reject) => {
    codec.unpack(packed, options, (error, result) => (error === null ? resolve(result) : reject(error)));
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

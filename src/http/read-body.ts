import { freeBytes } from "../../ingest/index.ts";
import { ThreadSlice } from "../concurrency/thread-turns.ts";
import { ApiError } from "../errors.ts";
import { BodyBytes } from "./body-bytes.ts";
import { type BodyPace, keepingPace } from "./body-pace.ts";
import {
  BODY_GRACE_MS,
  BODY_MIN_BYTES_PER_SEC,
  BODY_TIMEOUT_MS,
  COPY_SLICE_BYTES,
  MAX_INLINE_UNPACK_BYTES,
  MAX_WHOLE_READ_BYTES,
} from "./limits.ts";
import { CONTENT_ENCODINGS, type ContentEncoding, tooLarge, unpack } from "./unpack.ts";
import type { UnpackTurn } from "./unpack-turns.ts";

export interface BodyLimits {
  /** Bytes on the wire when the body is packed. */
  readonly maxPackedBytes: number;
  /** Bytes after unpacking, and bytes on the wire when the body is not packed. */
  readonly maxUnpackedBytes: number;
  /** Content encodings accepted besides none. */
  readonly encodings: readonly ContentEncoding[];
  /** How fast it has to arrive; the default suits every route. */
  readonly pace?: BodyPace;
}

/** A link of a kilobyte a second is served, a connection that only keeps a request open is not. */
const BODY_PACE: BodyPace = {
  timeoutMs: BODY_TIMEOUT_MS,
  graceMs: BODY_GRACE_MS,
  minBytesPerSec: BODY_MIN_BYTES_PER_SEC,
};

/**
 * Reads the body of a request whole, unpacked, within its limits. An absent body is empty. Throws
 * UNSUPPORTED_MEDIA_TYPE for another encoding, PAYLOAD_TOO_LARGE as soon as a limit is known to be passed,
 * REQUEST_TIMEOUT when it does not keep its pace, VALIDATION_FAILED when it ends early or does not unpack, and
 * RATE_LIMITED or UNAVAILABLE when too many wait to be unpacked. `reserve` is told of every byte before it arrives or when it is unpacked, and may
 * throw; it is `reserveMemory` of the request's context, as `turn` is its `unpackTurn`.
 */
export async function readBody(
  request: Request,
  limits: BodyLimits,
  reserve: (bytes: number) => void = () => undefined,
  turn?: UnpackTurn,
): Promise<Uint8Array> {
  const encoding = contentEncoding(request, limits.encodings);
  const maxBytes = encoding === undefined ? limits.maxUnpackedBytes : limits.maxPackedBytes;
  const declaredBytes = declaredLength(request) ?? 0;
  if (encoding !== undefined && declaredBytes > MAX_INLINE_UNPACK_BYTES && declaredBytes <= maxBytes)
    turn?.expect(declaredBytes);
  const bytes = await readPackedBody(request, {
    maxBytes,
    reserve,
    ...(limits.pace !== undefined && { pace: limits.pace }),
  });
  if (encoding === undefined) return bytes;
  try {
    return await unpack(bytes, encoding, limits.maxUnpackedBytes, reserve, turn);
  } finally {
    freeBytes(bytes);
  }
}

/**
 * Bodies that were read for what comes before the handler, which then gets the bytes themselves: read again they would take
 * their memory twice. Null once it has them.
 */
const readBefore = new WeakMap<Request, Uint8Array | null>();

/** The request with its body, which has been read whole, to be read once more, by `readBody` or as a stream. It is given away. */
export function withReadBody({ url, method, headers, signal }: Request, body: Uint8Array): Request {
  const request = new Request(url, {
    method,
    headers,
    signal,
    ...(body.length > 0 && { body: inPieces(body) }),
  });
  readBefore.set(request, body);
  return request;
}

/** Reads the body of a request whole, as it was sent. Throws what `readBody` throws, except about encodings. */
export async function readPackedBody(request: Request, bounds: ReadBounds): Promise<Uint8Array> {
  const before = readBefore.get(request);
  if (request.bodyUsed || before === null) throw new Error("the body of a request was read twice");
  if (before !== undefined) {
    readBefore.set(request, null);
    if (before.length > bounds.maxBytes) throw tooLarge(bounds.maxBytes);
    return before;
  }
  const declaredBytes = declaredLength(request);
  if (declaredBytes !== undefined && declaredBytes > bounds.maxBytes) throw tooLarge(bounds.maxBytes);
  // Whoever has no room for all of it hears so before it has come, instead of all that come at once giving up half-way.
  bounds.reserve(declaredBytes ?? 0);
  return declaredBytes === undefined || declaredBytes > MAX_WHOLE_READ_BYTES
    ? readStream(request, bounds, new BodyBytes(declaredBytes), declaredBytes ?? 0)
    : readWhole(request, declaredBytes, bounds);
}

/** Bytes as a stream, without a copy of them and before anybody reads it without any work. */
function inPieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    controller.enqueue(bytes.subarray(at, at + COPY_SLICE_BYTES));
    at += COPY_SLICE_BYTES;
    if (at >= bytes.length) controller.close();
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

function declaredLength(request: Request): number | undefined {
  const header = request.headers.get("content-length");
  return header !== null && /^\d+$/.test(header) ? Number(header) : undefined;
}

export function contentEncoding(
  request: Request,
  accepted: readonly ContentEncoding[],
): ContentEncoding | undefined {
  const header = request.headers.get("content-encoding");
  if (header === null) return undefined;
  const name = header.trim().toLowerCase();
  if (name === "" || name === "identity") return undefined;
  const encoding = encodingOf(name);
  if (encoding !== undefined && accepted.includes(encoding)) return encoding;
  const names =
    accepted.length === 0 ? "The body must not be packed." : `It must be ${accepted.join(", ")} or none.`;
  throw new ApiError("UNSUPPORTED_MEDIA_TYPE", `The content encoding is not accepted. ${names}`);
}

/** What graypy says of bodies that it packs once, with deflate. Source: graypy 2.1, GELFHTTPHandler. */
const BOTH_FOR_DEFLATE = /^gzip, ?deflate$/;

function encodingOf(name: string): ContentEncoding | undefined {
  if (BOTH_FOR_DEFLATE.test(name)) return "deflate";
  return CONTENT_ENCODINGS.find((known) => known === name || `x-${known}` === name);
}

interface ReadBounds {
  readonly maxBytes: number;
  readonly pace?: BodyPace;
  readonly reserve: (bytes: number) => void;
}

/**
 * For small bodies that name their length, which the listener enforces. How much of one is there is not seen, so it gets the time that all its bytes are worth.
 */
async function readWhole(
  request: Request,
  declaredBytes: number,
  { maxBytes, pace = BODY_PACE }: ReadBounds,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(await keepingPace(request.arrayBuffer(), pace, () => declaredBytes));
  if (bytes.length > maxBytes) throw tooLarge(maxBytes);
  return bytes;
}

/** For bodies of unknown length, and large ones, of which `reservedBytes` are reserved: each gets the time its bytes are worth. */
async function readStream(
  request: Request,
  { maxBytes, pace = BODY_PACE, reserve }: ReadBounds,
  bytes: BodyBytes,
  reservedBytes: number,
): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array(0);
  const reader = request.body.getReader();
  const readAll = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (bytes.length + value.length > maxBytes) throw tooLarge(maxBytes);
      if (bytes.length + value.length > reservedBytes) reserve(value.length);
      if (value.length <= COPY_SLICE_BYTES) bytes.add(value);
      else await addInSlices(bytes, value);
      freeBytes(value);
    }
  };
  try {
    await keepingPace(readAll(), pace, () => bytes.length);
  } catch (error) {
    // The stream may have failed already; what counts is the error that is being thrown.
    reader.cancel().catch(() => undefined);
    throw error;
  }
  return bytes.whole();
}

/** What came while nobody read it, as during authentication, is one piece, whose copy may take longer than others wait. */
async function addInSlices(bytes: BodyBytes, piece: Uint8Array): Promise<void> {
  const slice = new ThreadSlice();
  for (let at = 0; at < piece.length; at += COPY_SLICE_BYTES) {
    bytes.add(piece.subarray(at, at + COPY_SLICE_BYTES));
    if (slice.isOver) await slice.yield();
  }
}

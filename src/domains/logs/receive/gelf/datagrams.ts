import { gunzipSync, inflateSync } from "node:zlib";
import {
  CHUNKS_MAX_COUNT,
  CHUNKS_WAIT_MS,
  MESSAGE_MAX_BYTES,
  PARTIAL_MAX_BYTES,
  PARTIAL_MAX_COUNT,
} from "./limits.ts";

/** A chunk begins with two bytes, eight of the message's id, its position and how many there are. */
const CHUNK_MAGIC = [0x1e, 0x0f] as const;
const ID_END = 10;
const POSITION_AT = 10;
const COUNT_AT = 11;
const HEAD_BYTES = 12;

/** A message of which some chunks are still to come. */
interface Partial {
  readonly firstMs: number;
  readonly chunks: (Uint8Array | undefined)[];
  missing: number;
  bytes: number;
}

/**
 * Puts the datagrams of GELF together: one is a message or a chunk of one, packed with gzip or zlib or not. Chunks that
 * wait for others are bounded in number, bytes and time.
 */
export class GelfDatagrams {
  readonly #now: () => number;
  /** The oldest first. */
  readonly #partials = new Map<string, Partial>();
  #heldBytes = 0;

  /** `now` is a clock that never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The message that a datagram completes; null while chunks are missing; undefined for what cannot be read. */
  read(datagram: Uint8Array, peer: string): Uint8Array | null | undefined {
    const isChunk = datagram[0] === CHUNK_MAGIC[0] && datagram[1] === CHUNK_MAGIC[1];
    const packed = isChunk ? this.#addChunk(datagram, peer) : datagram;
    return packed instanceof Uint8Array ? unpacked(packed) : packed;
  }

  #addChunk(datagram: Uint8Array, peer: string): Uint8Array | null | undefined {
    const position = datagram[POSITION_AT] ?? 0;
    const count = datagram[COUNT_AT] ?? 0;
    if (datagram.length <= HEAD_BYTES || count > CHUNKS_MAX_COUNT || position >= count) return undefined;
    this.#giveUpOld();
    const key = `${peer} ${Buffer.from(datagram.subarray(CHUNK_MAGIC.length, ID_END)).toString("hex")}`;
    const partial = this.#partials.get(key) ?? this.#begin(key, count);
    if (partial.chunks.length !== count) return undefined;
    if (partial.chunks[position] !== undefined) return null;
    // Copied: the socket may use the memory again.
    const chunk = datagram.slice(HEAD_BYTES);
    partial.chunks[position] = chunk;
    partial.missing--;
    partial.bytes += chunk.length;
    this.#heldBytes += chunk.length;
    if (partial.missing > 0) return null;
    this.#remove(key, partial);
    return Buffer.concat(partial.chunks.filter((part) => part !== undefined));
  }

  #begin(key: string, count: number): Partial {
    const partial: Partial = {
      firstMs: this.#now(),
      chunks: Array.from({ length: count }, () => undefined),
      missing: count,
      bytes: 0,
    };
    this.#partials.set(key, partial);
    return partial;
  }

  #giveUpOld(): void {
    const oldestMs = this.#now() - CHUNKS_WAIT_MS;
    for (const [key, partial] of this.#partials) {
      const isTooMuch = this.#partials.size >= PARTIAL_MAX_COUNT || this.#heldBytes > PARTIAL_MAX_BYTES;
      if (partial.firstMs > oldestMs && !isTooMuch) return;
      this.#remove(key, partial);
    }
  }

  #remove(key: string, { bytes }: Partial): void {
    this.#partials.delete(key);
    this.#heldBytes -= bytes;
  }
}

/** The message as it was before it was packed; undefined for a pack that is damaged or too large. */
function unpacked(bytes: Uint8Array): Uint8Array | undefined {
  const [first = 0, second = 0] = bytes;
  const isGzip = first === 0x1f && second === 0x8b;
  // The first two bytes of zlib are a number that 31 divides.
  const isZlib = (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
  if (!isGzip && !isZlib) return bytes;
  const options = { maxOutputLength: MESSAGE_MAX_BYTES };
  try {
    return isGzip ? gunzipSync(bytes, options) : inflateSync(bytes, options);
  } catch {
    return undefined;
  }
}

import type { FileHandle } from "node:fs/promises";
import { PassThrough, Readable } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import unbzip2 from "unbzip2-stream";
import { FileProblem } from "../cli-error.ts";
import { READ_BYTES } from "../limits.ts";
import type { ByteSource } from "./byte-source.ts";
import { ZstdFrames } from "./zstd-frames.ts";

/** A compression that is unpacked while it is read. */
export interface Compression {
  readonly name: string;
  readonly magic: readonly number[];
  unpack(): NodeJS.ReadWriteStream;
  /** Knows whether the packed bytes have come to their end, where what unpacks them does not say. */
  readonly follow?: () => PackedEnd;
}

interface PackedEnd {
  readonly isWhole: boolean;
  take(bytes: Uint8Array): void;
}

/** Told by the first bytes: names lie. */
export const COMPRESSIONS: readonly Compression[] = [
  { name: "gzip", magic: [0x1f, 0x8b, 0x08], unpack: createGunzip },
  {
    name: "zstd",
    magic: [0x28, 0xb5, 0x2f, 0xfd],
    unpack: createZstdDecompress,
    follow: () => new ZstdFrames(),
  },
  { name: "bzip2", magic: [0x42, 0x5a, 0x68], unpack: unbzip2 },
];

/** What the unpacked bytes of a file come from, and how much of the file has been read. */
export interface UnpackedSource extends ByteSource {
  readonly packedBytes: number;
  close(): void;
}

/** The unpacked bytes of a compressed file from `offset` on and up to `end`, if there is one. Reading throws FileProblem for a damaged file. */
export function unpackedSource(
  { file, path }: { readonly file: FileHandle; readonly path: string },
  compression: Compression,
  offset: number,
  end: number | null,
): UnpackedSource {
  const packed = new PackedBytes(file, compression.follow?.() ?? null);
  const unpacked = compression.unpack();
  const input = Readable.from(packed.chunks());
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const fail = (error: unknown): void => {
    const message = `${path} is damaged or cut off: it does not unpack as ${compression.name}`;
    failed.reject(new FileProblem(message, { cause: error }));
  };
  input.on("error", fail);
  unpacked.on("error", fail);
  // Not every one of them can be iterated itself.
  const output = input.pipe(unpacked).pipe(new PassThrough());
  const chunks = output[Symbol.asyncIterator]();
  let at = 0;
  let waiting: Uint8Array = new Uint8Array(0);
  const fill = async (): Promise<boolean> => {
    const { done, value } = await Promise.race([chunks.next(), failed.promise]).catch((error: unknown) => {
      fail(error);
      return failed.promise;
    });
    if (done === true) return false;
    waiting = value;
    const skipped = Math.min(Math.max(0, offset - at), waiting.length);
    at += skipped;
    waiting = waiting.subarray(skipped);
    return true;
  };
  return {
    get packedBytes() {
      return packed.bytes;
    },
    close: () => input.destroy(),
    read: async (target) => {
      while (waiting.length === 0) if (!(await fill())) return 0;
      const wanted = end === null ? target.length : Math.min(target.length, end - at);
      const count = Math.min(waiting.length, Math.max(0, wanted));
      target.set(waiting.subarray(0, count));
      waiting = waiting.subarray(count);
      at += count;
      return count;
    },
  };
}

/** The bytes of an open file, counted as they are read. */
class PackedBytes {
  readonly #file: FileHandle;
  readonly #end: PackedEnd | null;
  bytes = 0;

  constructor(file: FileHandle, end: PackedEnd | null) {
    this.#file = file;
    this.#end = end;
  }

  async *chunks(): AsyncGenerator<Buffer> {
    for (;;) {
      const buffer = Buffer.allocUnsafe(READ_BYTES / 4);
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, this.bytes);
      if (bytesRead === 0) {
        if (this.#end?.isWhole === false) throw new Error("the last frame is cut off");
        return;
      }
      this.bytes += bytesRead;
      const chunk = buffer.subarray(0, bytesRead);
      this.#end?.take(chunk);
      yield chunk;
    }
  }
}

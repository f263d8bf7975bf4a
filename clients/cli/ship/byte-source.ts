import type { FileHandle } from "node:fs/promises";

/** Where bytes come from. */
export interface ByteSource {
  /** Puts some bytes into `target`, at least one; 0 says the end. */
  read(target: Uint8Array): Promise<number>;
}

/** The bytes of an open file from `offset` up to `end`, or to the file's end. */
export function fileSource(file: FileHandle, offset: number, end: number | null): ByteSource {
  let at = offset;
  return {
    read: async (target) => {
      const count = end === null ? target.length : Math.min(target.length, end - at);
      if (count <= 0) return 0;
      const { bytesRead } = await file.read(target, 0, count, at);
      at += bytesRead;
      return bytesRead;
    },
  };
}

/** The bytes of a stream, for example of standard input. An interrupt ends it: what was read before is still shipped. */
export function streamSource(stream: ReadableStream<Uint8Array>, interrupted: AbortSignal): ByteSource {
  const reader = stream.getReader();
  // Cancelling ends a read that is waiting; a stream that fails at that has ended as well.
  interrupted.addEventListener("abort", () => reader.cancel().catch(() => undefined), { once: true });
  let waiting: Uint8Array = new Uint8Array(0);
  return {
    read: async (target) => {
      while (waiting.length === 0) {
        const { done, value } = await reader.read();
        if (done) return 0;
        waiting = value;
      }
      const count = Math.min(waiting.length, target.length);
      target.set(waiting.subarray(0, count));
      waiting = waiting.subarray(count);
      return count;
    },
  };
}

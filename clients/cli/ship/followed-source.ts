import { type FileHandle, stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { FINGERPRINT_BYTES, FOLLOW_DRAIN_MS, FOLLOW_POLL_MS } from "../limits.ts";
import type { ByteSource } from "./byte-source.ts";

interface FollowedFile {
  readonly file: FileHandle;
  readonly path: string;
}

/**
 * The bytes of a file that grows. It ends when it is told to stop, when the file has been cut or written anew, and when it
 * has lost its name, by a rotation or a removal, and nothing was written to it for a while: who has it open goes on writing to
 * it under its new name for a moment.
 */
export class FollowedSource implements ByteSource {
  readonly #followed: FollowedFile;
  readonly #stop: AbortSignal;
  #at: number;
  /** The beginning of the file as far as it has been read, up to FINGERPRINT_BYTES. */
  #head: Buffer | null = null;
  #quietMs = 0;
  /** What stood before the place read last stands there no more. */
  isTruncated = false;

  constructor(followed: FollowedFile, offset: number, stop: AbortSignal) {
    this.#followed = followed;
    this.#at = offset;
    this.#stop = stop;
  }

  async read(target: Uint8Array): Promise<number> {
    const { file } = this.#followed;
    this.#head ??= await headOf(file, Math.min(this.#at, FINGERPRINT_BYTES));
    while (!this.#stop.aborted) {
      const { bytesRead } = await file.read(target, 0, target.length, this.#at);
      // Looked at after the bytes were read: whoever writes the file anew may do so at any moment before.
      if (await this.#isCut(this.#head, this.#at + bytesRead)) {
        this.isTruncated = true;
        return 0;
      }
      if (bytesRead > 0) {
        this.#head = this.#longerHead(this.#head, target.subarray(0, bytesRead));
        this.#at += bytesRead;
        this.#quietMs = 0;
        return bytesRead;
      }
      if (this.#quietMs >= FOLLOW_DRAIN_MS && !(await this.#hasItsName())) return 0;
      await setTimeout(FOLLOW_POLL_MS, undefined, { signal: this.#stop }).catch(() => undefined);
      this.#quietMs += FOLLOW_POLL_MS;
    }
    return 0;
  }

  /** Shorter than what was read of it, or with another beginning. */
  async #isCut(head: Buffer, readBytes: number): Promise<boolean> {
    const { file } = this.#followed;
    if ((await file.stat()).size < readBytes) return true;
    return !(await headOf(file, head.length)).equals(head);
  }

  /** Of what was read itself: the file may be another one by the time it is looked at again. */
  #longerHead(head: Buffer, bytes: Uint8Array): Buffer {
    const missing = FINGERPRINT_BYTES - head.length;
    if (missing <= 0 || this.#at !== head.length) return head;
    return Buffer.concat([head, bytes.subarray(0, missing)]);
  }

  async #hasItsName(): Promise<boolean> {
    const { file, path } = this.#followed;
    const [own, named] = await Promise.all([
      file.stat({ bigint: true }),
      stat(path, { bigint: true }).catch(() => null),
    ]);
    return named !== null && named.ino === own.ino && named.dev === own.dev;
  }
}

async function headOf(file: FileHandle, bytes: number): Promise<Buffer> {
  const head = Buffer.alloc(bytes);
  const { bytesRead } = await file.read(head, 0, bytes, 0);
  return head.subarray(0, bytesRead);
}

import { join } from "node:path";
import { isOutOfSpace, removeIfPresent, type WalFile, type WalIo, writeFully } from "./io.ts";

const FILE_NAME = "reserve";
const CHUNK_BYTES = 64 * 1024;

/**
 * A file of ballast. When the disk is full it is given up, so that a key file can be written and the segment behind it
 * removed; afterwards it is filled again.
 */
export class Reserve {
  readonly #io: WalIo;
  readonly #directory: string;
  readonly #path: string;
  readonly #bytes: number;
  #isFull = false;

  constructor(io: WalIo, directory: string, bytes: number) {
    this.#io = io;
    this.#directory = directory;
    this.#path = join(directory, FILE_NAME);
    this.#bytes = bytes;
  }

  /** Fills the reserve; answers whether it holds its bytes. A full disk is no error, the next call tries again. */
  async fill(): Promise<boolean> {
    if (this.#isFull) return true;
    const present = (await this.#io.list(this.#directory)).find((entry) => entry.name === FILE_NAME);
    try {
      if (present?.bytes !== this.#bytes) await this.#write(present === undefined ? "create" : "update");
      this.#isFull = true;
      return true;
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
      await this.#giveUp();
      return false;
    }
  }

  /** Runs `task`; if the disk is full, once more with the reserve given up. */
  async spend<T>(task: () => Promise<T>): Promise<T> {
    try {
      return await task();
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
      await this.#giveUp();
      return await task();
    }
  }

  async #write(mode: "create" | "update"): Promise<void> {
    const file: WalFile = await this.#io.open(this.#path, mode);
    try {
      // Random, so that a compressing file system keeps the space as well.
      const chunk = crypto.getRandomValues(new Uint8Array(CHUNK_BYTES));
      for (let at = 0; at < this.#bytes; at += chunk.length) {
        await writeFully(file, chunk.subarray(0, Math.min(chunk.length, this.#bytes - at)), at);
      }
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async #giveUp(): Promise<void> {
    this.#isFull = false;
    await removeIfPresent(this.#io, this.#path);
    // Some file systems give the space back only with the directory's next commit.
    await this.#io.syncDirectory(this.#directory);
  }
}

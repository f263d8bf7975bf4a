import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { WalFile, WalFileEntry, WalIo, WalOpenMode } from "./io.ts";

const OPEN_FLAGS: Record<WalOpenMode, number> = {
  read: constants.O_RDONLY,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
  update: constants.O_RDWR,
};

/** Log files hold customers' data: readable by the owner only. */
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

class NodeWalFile implements WalFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async read(target: Uint8Array, position: number): Promise<number> {
    return (await this.#handle.read(target, 0, target.length, position)).bytesRead;
  }

  async write(source: Uint8Array, position: number): Promise<number> {
    return (await this.#handle.write(source, 0, source.length, position)).bytesWritten;
  }

  datasync(): Promise<void> {
    return this.#handle.datasync();
  }

  sync(): Promise<void> {
    return this.#handle.sync();
  }

  truncate(bytes: number): Promise<void> {
    return this.#handle.truncate(bytes);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Real files. */
export const nodeWalIo: WalIo = {
  async placeOf(path) {
    const { ino, birthtimeNs } = await stat(path, { bigint: true });
    return birthtimeNs === 0n ? null : `${ino}-${birthtimeNs}`;
  },
  async makeDirectory(path) {
    const firstCreated = await mkdir(path, { recursive: true, mode: DIRECTORY_MODE });
    if (firstCreated === undefined) return;
    // Every new level is an entry of the level above it, which has to be durable too.
    for (let level = path; ; level = dirname(level)) {
      await syncDirectory(dirname(level));
      if (level === firstCreated || level === dirname(level)) return;
    }
  },

  async list(path) {
    const entries: WalFileEntry[] = [];
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isFile())
        entries.push({ name: entry.name, bytes: (await stat(join(path, entry.name))).size });
    }
    return entries;
  },

  async open(path, mode) {
    return new NodeWalFile(await open(path, OPEN_FLAGS[mode], FILE_MODE));
  },

  rename,
  unlink,
  syncDirectory,
};

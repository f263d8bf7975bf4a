import { dirname } from "node:path";
import type { WalFile, WalIo, WalOpenMode } from "../../../ingest/wal/io.ts";

/** What a power cut keeps or loses is decided per sector. */
const SECTOR_BYTES = 512;

type DiskOperation = "open" | "read" | "write" | "sync" | "truncate" | "rename" | "unlink" | "syncDirectory";

interface Fault {
  readonly operation: DiskOperation;
  readonly path: RegExp;
  readonly code: string;
}

type PendingChange =
  | { readonly kind: "write"; readonly position: number; readonly bytes: Uint8Array }
  | { readonly kind: "truncate"; readonly bytes: number };

/** A file's bytes as programs see them, as the platter has them, and the changes between. */
class Inode {
  visible = new Uint8Array(0);
  durable = new Uint8Array(0);
  pending: PendingChange[] = [];
}

type DirectoryChange = (entries: Map<string, Inode>) => void;

class DiskError extends Error {
  readonly code: string;

  constructor(code: string, path: string) {
    super(`${code}: ${path}`);
    this.code = code;
  }
}

/**
 * A disk in memory that can do to files what real ones do: forget what was not synced, keep only some sectors of it,
 * write short, fill up, fail a sync and pretend later that nothing happened, and rot.
 */
export class MemoryDisk {
  /** Bytes the disk can hold. */
  capacityBytes = Number.POSITIVE_INFINITY;
  /** The longest write that is done at once. */
  writeBytesMax = Number.POSITIVE_INFINITY;
  /** Operations until the process dies in the middle of one; what is left then is up to `kill` or `cutPower`. */
  operationsUntilDeath = Number.POSITIVE_INFINITY;
  /** What tells its directories from copies of them. */
  place: string | null = "1-1";
  readonly operations: { readonly operation: DiskOperation; readonly path: string }[] = [];
  #visible = new Map<string, Inode>();
  #durable = new Map<string, Inode>();
  #pendingDirectory: { readonly directory: string; readonly change: DirectoryChange }[] = [];
  #faults: Fault[] = [];
  #mounts = 0;

  /** The file system for one process. After `kill` or `cutPower` its operations never return. */
  mount(): WalIo {
    const mount = ++this.#mounts;
    const begin = (operation: DiskOperation, path: string): Promise<void> =>
      this.#begin(mount, operation, path);
    return {
      makeDirectory: () => Promise.resolve(),
      placeOf: () => Promise.resolve(this.place),
      list: async (path) => {
        await begin("read", path);
        const files = [...this.#visible].filter(([name]) => dirname(name) === path);
        return files.map(([name, inode]) => ({
          name: name.slice(path.length + 1),
          bytes: inode.visible.length,
        }));
      },
      open: async (path, mode) => {
        await begin("open", path);
        return this.#file(this.#openInode(path, mode), path, begin);
      },
      rename: async (from, to) => {
        await begin("rename", from);
        const inode = this.#existing(from);
        this.#changeDirectory(dirname(to), (entries) => {
          entries.delete(from);
          entries.set(to, inode);
        });
      },
      unlink: async (path) => {
        await begin("unlink", path);
        this.#existing(path);
        this.#changeDirectory(dirname(path), (entries) => entries.delete(path));
      },
      syncDirectory: async (path) => {
        await begin("syncDirectory", path);
        for (const { directory, change } of this.#pendingDirectory)
          if (directory === path) change(this.#durable);
        this.#pendingDirectory = this.#pendingDirectory.filter(({ directory }) => directory !== path);
      },
    };
  }

  /** Ends the process without a word; the operating system lives on, so everything written is still there. */
  kill(): void {
    this.#mounts++;
    this.operationsUntilDeath = Number.POSITIVE_INFINITY;
    this.#faults = [];
  }

  /** Ends everything. Of what was not synced, `keep` decides sector by sector, and how many directory changes last. */
  cutPower(keep: () => boolean): void {
    this.kill();
    for (const { change } of this.#pendingDirectory) {
      if (!keep()) break;
      change(this.#durable);
    }
    this.#pendingDirectory = [];
    for (const inode of new Set([...this.#durable.values(), ...this.#visible.values()])) {
      for (const change of inode.pending) applyPart(inode, change, keep);
      inode.pending = [];
      inode.visible = inode.durable.slice();
    }
    this.#visible = new Map(this.#durable);
  }

  /** Lets the next operation of this kind on such a path fail. */
  failNext(operation: DiskOperation, path: RegExp, code: string): void {
    this.#faults.push({ operation, path, code });
  }

  paths(pattern: RegExp): string[] {
    return [...this.#visible.keys()].filter((path) => pattern.test(path)).sort();
  }

  bytesOf(path: string): Uint8Array {
    return this.#existing(path).visible.slice();
  }

  /** Changes a byte on the platter, as rot does. */
  flip(path: string, offset: number, xor: number): void {
    const inode = this.#existing(path);
    inode.visible[offset] = (inode.visible[offset] ?? 0) ^ xor;
    inode.durable[offset] = (inode.durable[offset] ?? 0) ^ xor;
  }

  /** Replaces a file's bytes, on the platter as well. */
  put(path: string, bytes: Uint8Array): void {
    const inode = this.#visible.get(path) ?? new Inode();
    inode.visible = bytes.slice();
    inode.durable = bytes.slice();
    inode.pending = [];
    this.#visible.set(path, inode);
    this.#durable.set(path, inode);
  }

  remove(path: string): void {
    this.#visible.delete(path);
    this.#durable.delete(path);
  }

  get usedBytes(): number {
    let used = 0;
    for (const inode of new Set(this.#visible.values())) used += inode.visible.length;
    return used;
  }

  async #begin(mount: number, operation: DiskOperation, path: string): Promise<void> {
    await Promise.resolve();
    if (this.operationsUntilDeath-- <= 0) this.#mounts++;
    if (mount !== this.#mounts) await new Promise(() => {});
    this.operations.push({ operation, path });
    const fault = this.#faults.findIndex((each) => each.operation === operation && each.path.test(path));
    if (fault < 0) return;
    const [{ code } = { code: "EIO" }] = this.#faults.splice(fault, 1);
    // A failed sync leaves the pages marked clean: they are seen until the power goes, and no later sync writes them.
    if (operation === "sync") this.#existing(path).pending = [];
    throw new DiskError(code, path);
  }

  #openInode(path: string, mode: WalOpenMode): Inode {
    const present = this.#visible.get(path);
    if (mode !== "create") return this.#existing(path);
    if (present !== undefined) throw new DiskError("EEXIST", path);
    const inode = new Inode();
    this.#changeDirectory(dirname(path), (entries) => entries.set(path, inode));
    return inode;
  }

  #file(
    inode: Inode,
    path: string,
    begin: (operation: DiskOperation, path: string) => Promise<void>,
  ): WalFile {
    const sync = async (): Promise<void> => {
      await begin("sync", path);
      for (const change of inode.pending) applyWhole(inode, change);
      inode.pending = [];
    };
    return {
      read: async (target, position) => {
        await begin("read", path);
        const bytes = inode.visible.subarray(position, position + target.length);
        target.set(bytes);
        return bytes.length;
      },
      write: async (source, position) => {
        await begin("write", path);
        const room = this.capacityBytes - this.usedBytes;
        const inPlace = Math.max(0, Math.min(source.length, inode.visible.length - position));
        const length = Math.min(source.length, inPlace + Math.max(0, room), this.writeBytesMax);
        if (length === 0 && source.length > 0) throw new DiskError("ENOSPC", path);
        const bytes = source.slice(0, length);
        inode.pending.push({ kind: "write", position, bytes });
        inode.visible = written(inode.visible, position, bytes);
        return length;
      },
      datasync: sync,
      sync,
      truncate: async (bytes) => {
        await begin("truncate", path);
        inode.pending.push({ kind: "truncate", bytes });
        inode.visible = inode.visible.slice(0, bytes);
      },
      close: () => Promise.resolve(),
    };
  }

  #existing(path: string): Inode {
    const inode = this.#visible.get(path);
    if (inode === undefined) throw new DiskError("ENOENT", path);
    return inode;
  }

  #changeDirectory(directory: string, change: DirectoryChange): void {
    change(this.#visible);
    this.#pendingDirectory.push({ directory, change });
  }
}

function written(bytes: Uint8Array, position: number, added: Uint8Array): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(Math.max(bytes.length, position + added.length));
  result.set(bytes);
  result.set(added, position);
  return result;
}

function applyWhole(inode: Inode, change: PendingChange): void {
  if (change.kind === "truncate") inode.durable = inode.durable.slice(0, change.bytes);
  else inode.durable = written(inode.durable, change.position, change.bytes);
}

function applyPart(inode: Inode, change: PendingChange, keep: () => boolean): void {
  if (change.kind === "truncate") {
    if (keep()) applyWhole(inode, change);
    return;
  }
  for (let at = 0; at < change.bytes.length; ) {
    const position = change.position + at;
    const length = Math.min(SECTOR_BYTES - (position % SECTOR_BYTES), change.bytes.length - at);
    if (keep()) inode.durable = written(inode.durable, position, change.bytes.subarray(at, at + length));
    at += length;
  }
}

/** An open file. Positions and lengths are bytes. Every failure rejects with the operating system's error. */
export interface WalFile {
  /** Fills `target` from `position`; returns the bytes read, fewer than asked only at the end of the file. */
  read(target: Uint8Array, position: number): Promise<number>;
  /** Returns the bytes written, possibly fewer than given. */
  write(source: Uint8Array, position: number): Promise<number>;
  /** Makes the written bytes, and the length needed to find them, survive a power cut. */
  datasync(): Promise<void>;
  /** As `datasync`, for every attribute: needed after the file was shortened. */
  sync(): Promise<void>;
  truncate(bytes: number): Promise<void>;
  close(): Promise<void>;
}

/** `create` fails when the file exists; `update` and `read` fail when it does not. */
export type WalOpenMode = "read" | "create" | "update";

export interface WalFileEntry {
  readonly name: string;
  readonly bytes: number;
}

/** The file system as the log uses it; tests put a faulty one in its place. */
export interface WalIo {
  /** With its parents; no error when it exists. */
  makeDirectory(path: string): Promise<void>;
  /** The regular files of a directory, in no particular order. */
  list(path: string): Promise<WalFileEntry[]>;
  open(path: string, mode: WalOpenMode): Promise<WalFile>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /**
   * Tells a directory from every other one, also from its copy, and is the same after a new name or a restart of the
   * machine; null where the file system does not say.
   */
  placeOf(path: string): Promise<string | null>;
  /** Makes creations, renames and removals in the directory survive a power cut. */
  syncDirectory(path: string): Promise<void>;
}

/** Writes all of `bytes`, going on after short writes. A write that makes no progress is an error. */
export async function writeFully(file: WalFile, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const written = await file.write(done === 0 ? bytes : bytes.subarray(done), position + done);
    if (written <= 0) throw new Error(`a write of ${bytes.length - done} bytes made no progress`);
    done += written;
  }
}

/** Reads `length` bytes, or those up to the end of the file if it is shorter. */
export async function readFully(file: WalFile, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    const read = await file.read(done === 0 ? bytes : bytes.subarray(done), position + done);
    if (read <= 0) break;
    done += read;
  }
  return done === length ? bytes : bytes.subarray(0, done);
}

/** Whether the error says that there is no room: disk full, quota, or the file system's size limit. */
export function isOutOfSpace(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG";
}

export function isMissingFile(error: unknown): boolean {
  return errorCode(error) === "ENOENT";
}

/** Removes a file; no error when it is not there. */
export async function removeIfPresent(io: WalIo, path: string): Promise<void> {
  try {
    await io.unlink(path);
  } catch (error) {
    if (!isMissingFile(error)) throw error;
  }
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

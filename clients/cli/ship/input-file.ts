import { type FileHandle, open, stat } from "node:fs/promises";
import { FileProblem } from "../cli-error.ts";
import { SNIFF_BYTES } from "../limits.ts";
import { escapeControls } from "../terminal/escape-controls.ts";
import { type ByteSource, fileSource } from "./byte-source.ts";
import { type Compression, unpackedSource } from "./compression.ts";
import { fileKind, isBinary } from "./file-kind.ts";

/** A file that can be shipped, open. */
export interface InputFile extends AsyncDisposable {
  readonly path: string;
  readonly file: FileHandle;
  /** Null for one that is text as it is. */
  readonly compression: Compression | null;
  /** Bytes of the file itself. */
  readonly size: number;
  /** When it was changed last, in milliseconds since 1970. */
  readonly modifiedMs: number;
}

/** Opens a file and looks at its beginning. Throws FileProblem when it cannot be read, is no file or holds no text. */
export async function openInputFile(path: string): Promise<InputFile> {
  const shown = escapeControls(path);
  let file: FileHandle;
  try {
    // A pipe that nobody writes to would keep whoever opens it waiting.
    if ((await stat(path)).isFIFO()) throw notRegular(shown);
    file = await open(path, "r");
  } catch (error) {
    if (error instanceof FileProblem) throw error;
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw new FileProblem(missing ? `no such file: ${shown}` : `cannot read ${shown}`, { cause: error });
  }
  try {
    const status = await file.stat();
    if (!status.isFile()) throw notRegular(shown);
    const compression = await compressionOf(file, path);
    const close = (): Promise<void> => file.close();
    return {
      path,
      file,
      compression,
      size: status.size,
      modifiedMs: status.mtimeMs,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function notRegular(shown: string): FileProblem {
  return new FileProblem(`${shown} is not a regular file; for a pipe use - and standard input`);
}

async function compressionOf(file: FileHandle, path: string): Promise<Compression | null> {
  const found = fileKind(await headOf(fileSource(file, 0, null)));
  if (found.kind === "binary") throw notText(path, found.what, found.advice);
  if (found.kind === "text") return null;
  const unpacked = unpackedSource({ file, path }, found.compression, 0, null);
  try {
    if (isBinary(await headOf(unpacked)))
      throw notText(path, `binary, not text, inside its ${found.compression.name}`, "");
  } finally {
    unpacked.close();
  }
  return found.compression;
}

function notText(path: string, what: string, advice: string): FileProblem {
  const instead = advice === "" ? "" : `; instead: ${advice.replace("FILE", escapeControls(path))}`;
  return new FileProblem(`${escapeControls(path)} is ${what}: nothing of it was sent${instead}`);
}

async function headOf(source: ByteSource): Promise<Uint8Array> {
  const head = Buffer.alloc(SNIFF_BYTES);
  let filled = 0;
  while (filled < head.length) {
    const count = await source.read(head.subarray(filled));
    if (count === 0) break;
    filled += count;
  }
  return head.subarray(0, filled);
}

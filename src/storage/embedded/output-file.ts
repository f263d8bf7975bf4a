import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  truncateSync,
} from "node:fs";
import { dirname } from "node:path";
import { ENGINE_LOG_TAIL_BYTES, ENGINE_LOG_TAIL_LINES } from "../limits.ts";

interface OutputFileOptions {
  readonly maxBytes: number;
  readonly generations: number;
}

/**
 * Moves `path` to `path.1` and so on when it has grown past `maxBytes`. The engine keeps its descriptor, so the
 * content is copied and the file cut; the descriptor appends, so it goes on at the new end. Lines written between
 * copy and cut are lost, which is acceptable for an engine's own log and for nothing else.
 */
export function rotateOutputFile(path: string, options: OutputFileOptions): void {
  if (!existsSync(path) || statSync(path).size <= options.maxBytes) return;
  for (let generation = options.generations - 1; generation >= 1; generation--) {
    if (existsSync(`${path}.${generation}`)) renameSync(`${path}.${generation}`, `${path}.${generation + 1}`);
  }
  copyFileSync(path, `${path}.1`);
  truncateSync(path, 0);
}

/** Opens a file for an engine to append to, readable by its owner only. The caller closes the descriptor. */
export function openOutputFile(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return openSync(path, "a", 0o600);
}

/** The last lines of a file from `fromByte` on, for an error message; empty when there is nothing. */
export function tailOfFile(path: string, fromByte: number): string {
  if (!existsSync(path)) return "";
  const file = openSync(path, "r");
  try {
    const size = fstatSync(file).size;
    const start = Math.max(fromByte > size ? 0 : fromByte, size - ENGINE_LOG_TAIL_BYTES);
    const bytes = Buffer.alloc(Math.max(0, size - start));
    const length = readSync(file, bytes, 0, bytes.length, start);
    const lines = bytes
      .toString("utf8", 0, length)
      .split("\n")
      .map((line) => line.trim());
    return lines
      .filter((line) => line !== "")
      .slice(-ENGINE_LOG_TAIL_LINES)
      .join("\n");
  } finally {
    closeSync(file);
  }
}

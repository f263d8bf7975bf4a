import { FILES_GROWTH, FIRST_FILES, STATEMENT_MAX_FILES } from "./limits.ts";

/** Files of one statement after the other, in the order given, ever more of them. */
export function* fileBatches<T>(files: readonly T[]): Generator<readonly T[]> {
  for (let at = 0, size = FIRST_FILES; at < files.length; ) {
    yield files.slice(at, at + size);
    at += size;
    size = Math.min(size * FILES_GROWTH, STATEMENT_MAX_FILES);
  }
}

import { dlopen, FFIType } from "bun:ffi";
import { readFileSync } from "node:fs";

/** madvise(2): the pages are read from the file again when somebody needs them. */
const MADV_DONTNEED = 4;
const LIBC = "libc.so.6";

/**
 * Unmaps what the loading of a library has read: the table of addresses to be put in, and code that runs once. What is
 * needed later comes back from the cache of the file. Only of mappings that hold nothing but the file's contents: the
 * others have been written to, and what is there would be lost. Linux only, nothing is done elsewhere. The bytes of the
 * mappings.
 */
export function unmapLoadedPages(libraryPath: string): number {
  if (process.platform !== "linux") return 0;
  const { symbols, close } = dlopen(LIBC, {
    madvise: { args: [FFIType.u64, FFIType.u64, FFIType.i32], returns: FFIType.i32 },
  });
  let bytes = 0n;
  for (const { start, end } of unchangedMappings(readFileSync("/proc/self/smaps", "utf8"), libraryPath))
    if (symbols.madvise(start, end - start, MADV_DONTNEED) === 0) bytes += end - start;
  close();
  return Number(bytes);
}

interface Mapping {
  readonly start: bigint;
  readonly end: bigint;
}

/** The mappings of a file, in what `/proc/PID/smaps` says, that are not writable and of which no page was changed. */
export function unchangedMappings(smaps: string, path: string): Mapping[] {
  const unchanged: Mapping[] = [];
  let mapping: Mapping | null = null;
  for (const line of smaps.split("\n")) {
    const [, start, end, writable, file] = MAPPING.exec(line) ?? [];
    if (start !== undefined && end !== undefined)
      mapping =
        writable === "-" && file === path ? { start: BigInt(`0x${start}`), end: BigInt(`0x${end}`) } : null;
    if (mapping !== null && /^Anonymous: +0 kB$/.test(line)) unchanged.push(mapping);
  }
  return unchanged;
}

/** Start, end, whether it may be written to, path. */
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) .(.).. \S+ \S+ \d+ *(.*)$/;

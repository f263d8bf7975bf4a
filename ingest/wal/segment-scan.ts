import { readFully, type WalFile } from "./io.ts";
import { type ScanItem, type ScanWindow, scanNext } from "./scan.ts";

/** The part of a file to scan. */
interface ScanRange {
  /** Position of the file's first byte. */
  readonly base: number;
  /** Where to begin: a record's start. */
  readonly from: number;
  /** Where to stop; bytes beyond are not looked at. */
  readonly end: number;
}

/**
 * The records and holes of a file, in order, window by window. A window has `windowBytes` bytes, or as many as its
 * first record needs; each has its own buffer, so what it yields may be kept.
 */
export async function* scanFile(
  file: WalFile,
  range: ScanRange,
  identity: bigint,
  windowBytes: number,
): AsyncGenerator<ScanItem[]> {
  let at = range.from;
  let wanted = windowBytes;
  while (at < range.end) {
    const length = Math.min(wanted, range.end - at);
    const bytes = await readFully(file, at - range.base, length);
    const isEnd = bytes.length < length || at + length === range.end;
    const items: ScanItem[] = [];
    const { scanned, needed } = scanWindow(windowOver(bytes, at, isEnd, identity), items);
    if (items.length > 0) yield items;
    at += scanned;
    if (isEnd && scanned === bytes.length) return;
    wanted = Math.max(windowBytes, needed);
  }
}

function windowOver(bytes: Uint8Array, base: number, isEnd: boolean, identity: bigint): ScanWindow {
  return {
    bytes,
    view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    base,
    isEnd,
    identity,
  };
}

/** Appends the window's items; returns the bytes they cover and how many the next window needs at least. */
function scanWindow(window: ScanWindow, items: ScanItem[]): { scanned: number; needed: number } {
  let offset = 0;
  while (offset < window.bytes.length) {
    const item = scanNext(window, offset);
    if (item.kind === "more") return { scanned: offset, needed: item.bytes };
    items.push(item);
    offset = (item.kind === "record" ? item.header.end : item.end) - window.base;
  }
  return { scanned: offset, needed: 0 };
}

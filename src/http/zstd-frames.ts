import { MAX_ZSTD_WINDOW_BYTES } from "./limits.ts";

const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const BLOCK_RLE = 1;
const BLOCK_RESERVED = 3;

/**
 * Walks the frames of a zstd stream (RFC 8878) without unpacking them and says what is wrong with it, or undefined.
 * The runtime's decoder takes a truncated stream for a complete one, so completeness is established here, and
 * windows beyond RFC 9659's 8 MB are refused before the decoder allocates them.
 */
export function findZstdFault(bytes: Uint8Array): "incomplete" | "malformed" | "window" | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let offset = 0;
  do {
    if (offset + 8 > bytes.length) return "incomplete";
    const magic = view.getUint32(offset, true);
    if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) {
      offset += 8 + view.getUint32(offset + 4, true);
      continue;
    }
    if (magic !== FRAME_MAGIC) return "malformed";
    const header = readFrameHeader(view, offset + 4);
    if (header === undefined) return "incomplete";
    if (header.windowBytes > MAX_ZSTD_WINDOW_BYTES) return "window";
    const end = skipBlocks(view, header.end);
    if (typeof end === "string") return end;
    offset = end + (header.hasChecksum ? 4 : 0);
  } while (offset < bytes.length);
  return offset === bytes.length ? undefined : "incomplete";
}

/** RFC 8878 section 3.1.1.1: descriptor, window, dictionary id, content size. */
function readFrameHeader(
  view: DataView,
  start: number,
): { end: number; windowBytes: number; hasChecksum: boolean } | undefined {
  const descriptor = view.getUint8(start);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const windowAt = start + 1;
  const sizeAt = windowAt + (isSingleSegment ? 0 : 1) + dictionaryBytes;
  const end = sizeAt + sizeBytes;
  if (end > view.byteLength) return undefined;
  const windowBytes = isSingleSegment
    ? readContentSize(view, sizeAt, sizeBytes)
    : windowSize(view.getUint8(windowAt));
  return { end, windowBytes, hasChecksum: (descriptor & 4) !== 0 };
}

function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

function readContentSize(view: DataView, at: number, bytes: number): number {
  if (bytes === 1) return view.getUint8(at);
  if (bytes === 2) return view.getUint16(at, true) + 256;
  return bytes === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}

/** Where the blocks that begin at `start` end: after the one marked last. */
function skipBlocks(view: DataView, start: number): number | "incomplete" | "malformed" {
  let offset = start;
  for (;;) {
    if (offset + 3 > view.byteLength) return "incomplete";
    const header =
      view.getUint8(offset) | (view.getUint8(offset + 1) << 8) | (view.getUint8(offset + 2) << 16);
    const type = (header >> 1) & 3;
    if (type === BLOCK_RESERVED) return "malformed";
    offset += 3 + (type === BLOCK_RLE ? 1 : header >> 3);
    if ((header & 1) === 1) return offset;
  }
}

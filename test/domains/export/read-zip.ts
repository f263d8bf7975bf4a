import { crc32 } from "node:zlib";

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;

/**
 * The stored files of a ZIP by the APPNOTE, found through its directory. Throws an Error for what is no such archive,
 * and for a file whose size or sum is another one than the directory says.
 */
export function readZip(bytes: Buffer): Map<string, string> {
  const end = bytes.length - END_BYTES;
  if (end < 0 || bytes.readUInt32LE(end) !== END_OF_DIRECTORY) throw new Error("the archive has no end");
  const files = new Map<string, string>();
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (bytes.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new Error("the directory is damaged");
    if (bytes.readUInt16LE(at + 10) !== 0) throw new Error("a file is compressed");
    const nameBytes = bytes.readUInt16LE(at + 28);
    const name = bytes.toString("utf8", at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    const content = contentAt(bytes, bytes.readUInt32LE(at + 42), bytes.readUInt32LE(at + 24));
    if (crc32(content) !== bytes.readUInt32LE(at + 16)) throw new Error(`${name} has another sum`);
    files.set(name, content.toString("utf8"));
    at += ENTRY_BYTES + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  if (at !== end) throw new Error("the directory ends elsewhere");
  return files;
}

function contentAt(bytes: Buffer, offset: number, size: number): Buffer {
  if (bytes.readUInt32LE(offset) !== LOCAL_HEADER) throw new Error("a file is not where the directory says");
  const begin = offset + LOCAL_BYTES + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
  return bytes.subarray(begin, begin + size);
}

import { BINARY_SHARE, SNIFF_BYTES } from "../limits.ts";
import { COMPRESSIONS, type Compression } from "./compression.ts";

/** What a file is, by its first bytes. */
type FileKind =
  | { readonly kind: "text" }
  | { readonly kind: "compressed"; readonly compression: Compression }
  /** `what` says what it is, `advice` what to do instead, where there is something. */
  | { readonly kind: "binary"; readonly what: string; readonly advice: string };

interface Format {
  readonly what: string;
  readonly magic: string;
  readonly advice: string;
}

const OTHER_FORMATS: readonly Format[] = [
  { what: "an xz archive", magic: "\xfd7zXZ", advice: "xz -dc FILE | obs ship -" },
  { what: "an lz4 archive", magic: "\x04\x22\x4d\x18", advice: "lz4 -dc FILE | obs ship -" },
  { what: "a zip archive", magic: "PK\x03\x04", advice: "unzip -p FILE | obs ship -" },
  {
    what: "a journal of systemd",
    magic: "LPKSHHRH",
    advice: "journalctl -o json | obs ship - --preset journald",
  },
  { what: "a Parquet file", magic: "PAR1", advice: "" },
  { what: "UTF-16 text", magic: "\xff\xfe", advice: "iconv -f UTF-16 -t UTF-8 FILE | obs ship -" },
  { what: "UTF-16 text", magic: "\xfe\xff", advice: "iconv -f UTF-16 -t UTF-8 FILE | obs ship -" },
];

/** Says what bytes at the beginning of a file are. */
export function fileKind(head: Uint8Array): FileKind {
  const compression = COMPRESSIONS.find(({ magic }) => magic.every((byte, index) => head[index] === byte));
  if (compression !== undefined) return { kind: "compressed", compression };
  if (!isBinary(head)) return { kind: "text" };
  const latin = Buffer.from(head.subarray(0, 16)).toString("latin1");
  const format = OTHER_FORMATS.find(({ magic }) => latin.startsWith(magic));
  return { kind: "binary", what: format?.what ?? "binary, not text", advice: format?.advice ?? "" };
}

/**
 * Whether too much of it is no text: controls that no log has, and what is not UTF-8. A text of another 8-bit character set is
 * mostly ASCII still.
 */
export function isBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SNIFF_BYTES);
  if (sample.length === 0) return false;
  let strange = 0;
  for (const byte of sample) if (byte < 0x20 && !TEXT_CONTROLS.has(byte)) strange++;
  // A character that the end of the sample cuts is one replacement at most.
  for (const character of new TextDecoder().decode(sample)) if (character === "\ufffd") strange++;
  return strange > 1 && strange / sample.length > BINARY_SHARE;
}

/** Bell, backspace, tab, line ends, form feed and escape. */
const TEXT_CONTROLS: ReadonlySet<number> = new Set([0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b]);

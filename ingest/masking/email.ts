import type { EncodedTexts } from "../native/block-reader.ts";
import type { MaskedSpan, MaskPattern } from "./mask-pattern.ts";
import { TextPlaces } from "./text-places.ts";

/** Octets of what stands before the @ (RFC 5321, 4.5.3.1.1), and of the domain. */
const LOCAL_MAX_CHARS = 64;
const DOMAIN_MAX_CHARS = 255;
const LOCAL = /[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]+$/u;
const DOMAIN =
  /^[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?)+/u;
/** What often stands before an address in a log and could be part of one. */
const PREFIX = /^(?:.*[=/'`{|])?\.*/su;

const AT = 0x40;
const DOT = 0x2e;
/** 1 for letters, digits, hyphens, dots, and the bytes of what is not ASCII. */
const IS_OF_DOMAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x80 || /[A-Za-z0-9.-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** Addresses of mail. */
export const EMAIL: MaskPattern = {
  find: (text) => {
    const spans: MaskedSpan[] = [];
    let from = 0;
    for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
      const local = LOCAL.exec(text.slice(Math.max(from, at - LOCAL_MAX_CHARS), at))?.[0] ?? "";
      const name = local.replace(PREFIX, "");
      const domain = DOMAIN.exec(text.slice(at + 1, at + 1 + DOMAIN_MAX_CHARS))?.[0] ?? "";
      if (name === "" || domain === "" || /^[\d.]+$/.test(domain)) continue;
      from = at + 1 + domain.length;
      spans.push({ start: at - name.length, end: from, replacement: "[email]" });
    }
    return spans;
  },
  hint: { look: lookForDomains },
};

/** The texts with the sign and a dot in what stands behind it: most of what has the sign has no domain. */
function lookForDomains(texts: EncodedTexts, hit: (text: number) => void): void {
  const { start, end } = texts;
  const bytes = Buffer.from(texts.bytes.buffer, texts.bytes.byteOffset, end);
  const places = new TextPlaces(texts);
  for (let at = bytes.indexOf(AT, start); at !== -1; at = bytes.indexOf(AT, at + 1)) {
    const last = Math.min(end, at + 1 + DOMAIN_MAX_CHARS * 4);
    let dot = at + 1;
    while (dot < last && IS_OF_DOMAIN[bytes[dot] ?? 0] === 1 && bytes[dot] !== DOT) dot++;
    if (bytes[dot] === DOT && dot < last) hit(places.textAt(at));
  }
}

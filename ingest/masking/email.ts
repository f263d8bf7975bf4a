import { literalsHint } from "./hints.ts";
import type { MaskedSpan, MaskPattern } from "./mask-pattern.ts";

/** Octets of what stands before the @ (RFC 5321, 4.5.3.1.1), and of the domain. */
const LOCAL_MAX_CHARS = 64;
const DOMAIN_MAX_CHARS = 255;
const LOCAL = /[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]+$/u;
const DOMAIN =
  /^[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?)+/u;
/** What often stands before an address in a log and could be part of one. */
const PREFIX = /^(?:.*[=/'`{|])?\.*/su;

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
  hint: literalsHint(["@"]),
};

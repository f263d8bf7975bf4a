import { domainToASCII, domainToUnicode } from "node:url";
import { validationFailed } from "../errors.ts";
import { DOMAIN_MAX_CHARS, EMAIL_LOCAL_PART_MAX_BYTES, EMAIL_MAX_CHARS } from "./limits.ts";

/** A dot-atom of RFC 5322 with the letters, marks and digits of any script, as RFC 6531 allows. */
const ATOM = "[\\p{L}\\p{M}\\p{N}!#$%&'*+/=?^_`{|}~-]+";
const LOCAL_PART = new RegExp(`^${ATOM}(?:\\.${ATOM})*$`, "u");
const DOMAIN_AS_TYPED = /^[\p{L}\p{M}\p{N}.-]+$/u;
const ASCII_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const WORD_BREAK = /[^\p{L}\p{M}\p{N}]+/u;

/** Scripts with letters that look like letters of another of them; a word mixing two is refused. */
const CONFUSABLE_SCRIPTS = ["Latin", "Cyrillic", "Greek", "Armenian", "Cherokee", "Coptic"].map(
  (script) => new RegExp(`\\p{Script=${script}}`, "u"),
);

/**
 * The one spelling under which an address is stored and compared, or null when the text is not an address that
 * accounts can have. The text is brought to NFKC and lower case and the domain to its UTS 46 form, so that wide
 * letters, capitals and `xn--` spellings of one mailbox meet. Refused besides malformed text: quoted local parts,
 * address literals, domains of one label, invisible and control characters, and words that mix look-alike scripts. The result is a
 * fixed point of this function.
 */
export function normaliseEmail(text: string): string | null {
  if (text.length > 2 * EMAIL_MAX_CHARS || !text.isWellFormed()) return null;
  const folded = foldCase(text);
  const at = folded.lastIndexOf("@");
  const local = folded.slice(0, Math.max(at, 0));
  if (!LOCAL_PART.test(local) || Buffer.byteLength(local) > EMAIL_LOCAL_PART_MAX_BYTES) return null;
  if (mixesScripts(local)) return null;

  const domain = normaliseDomain(folded.slice(at + 1));
  if (domain === null) return null;
  const email = `${local}@${domain}`;
  return [...email].length <= EMAIL_MAX_CHARS ? email : null;
}

/** The normalised form of an address in a body's `email`. Throws VALIDATION_FAILED. */
export function requireEmail(text: string): string {
  const email = normaliseEmail(text);
  if (email === null)
    throw validationFailed([{ path: "/email", code: "invalid_string", message: "must be an email address" }]);
  return email;
}

/** Lower-casing can undo the normal form, as with the dotted capital I, so it is restored afterwards. */
function foldCase(text: string): string {
  return text.normalize("NFKC").toLowerCase().normalize("NFKC");
}

function normaliseDomain(typed: string): string | null {
  if (!DOMAIN_AS_TYPED.test(typed)) return null;
  const ascii = domainToASCII(typed);
  if (ascii.length === 0 || ascii.length > DOMAIN_MAX_CHARS) return null;
  const labels = ascii.split(".");
  if (labels.length < 2 || !labels.every((label) => ASCII_LABEL.test(label))) return null;
  // A name ending in a number is an IPv4 address to the URL standard, whatever its other labels say.
  if (/^\d+$/.test(labels.at(-1) ?? "")) return null;
  const domain = domainToUnicode(ascii);
  return mixesScripts(domain) ? null : domain;
}

/** Judged word by word: a Greek and a Latin name may stand side by side, a word of both is a disguise. */
function mixesScripts(name: string): boolean {
  return name
    .split(WORD_BREAK)
    .some((word) => CONFUSABLE_SCRIPTS.filter((script) => script.test(word)).length > 1);
}

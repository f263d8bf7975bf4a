import { isIP } from "node:net";
import { CASE_OBSERVABLES_MAX, OBSERVABLE_MAX_CHARS } from "./limits.ts";
import type { Observable } from "./types.ts";

const ADDRESS = /(?<![\w.:-])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})(?![\w.:-])/gi;
const HASH = /(?<![0-9a-z])(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})(?![0-9a-z])/gi;
const EMAIL = /(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w-])/gi;
/** Only behind a scheme or an at sign: names of files and of classes look like domains, too. */
const DOMAIN = /(?:\/\/|@)((?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24})(?![\w-])/gi;

/** Addresses, domains, hashes and mail addresses that a text names, each once, in small letters. */
export function observablesIn(text: string): Observable[] {
  const found = new Map<string, Observable>();
  const add = (type: Observable["type"], value: string): void => {
    if (value.length <= OBSERVABLE_MAX_CHARS && found.size < CASE_OBSERVABLES_MAX)
      found.set(`${type} ${value}`, { type, value });
  };
  for (const [match] of text.matchAll(ADDRESS)) if (isIP(match) !== 0) add("ip", match.toLowerCase());
  for (const [match] of text.matchAll(HASH)) add("hash", match.toLowerCase());
  for (const [match] of text.matchAll(EMAIL)) add("email", match.toLowerCase());
  for (const [, domain = ""] of text.matchAll(DOMAIN)) add("domain", domain.toLowerCase());
  return [...found.values()];
}

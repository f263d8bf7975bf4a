import { isIP } from "node:net";
import { isCertain, observableOf } from "../../entities/observables.ts";
import { CASE_OBSERVABLES_MAX, OBSERVABLE_MAX_CHARS } from "./limits.ts";
import type { Observable } from "./types.ts";

const ADDRESS = /(?<![\w.:-])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})(?![\w.:-])/gi;
const HASH = /(?<![0-9a-z])(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})(?![0-9a-z])/gi;
const EMAIL = /(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w-])/gi;
/** Behind a scheme or an at sign whatever it ends in. */
const DOMAIN = /(?:\/\/|@)((?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24})(?![\w-])/gi;

/** Elsewhere names of files and of classes look like domains, too: it depends on how they end. */
const DOTTED = /(?<![\w.@/\\-])(?:[a-z0-9_-]{1,63}\.){1,8}[a-z0-9-]{2,63}(?![\w@-])/gi;

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
  for (const [match] of text.matchAll(DOTTED)) {
    const seen = isCertain(match) ? observableOf(match) : null;
    if (seen?.type === "domain") add("domain", seen.value);
  }
  return [...found.values()];
}

/**
 * What a copy says, without the names under which it says it: names of attributes look like domains. What its name calls an id is no
 * hash, as it is none where entries are looked through: a trace is told by as many hex digits.
 */
export function textsOf(value: unknown, name = ""): string {
  if (typeof value === "string") return /id$/i.test(name) && !/[.:]/.test(value) ? "" : value;
  if (typeof value !== "object" || value === null) return "";
  if (Array.isArray(value)) return value.map((each) => textsOf(each, name)).join("\n");
  return Object.entries(value)
    .map(([key, each]) => textsOf(each, key))
    .join("\n");
}

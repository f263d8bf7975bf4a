import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { readNetwork } from "./ip-network.ts";

export const INDICATOR_TYPES = ["ip", "domain", "hash"] as const;
export type IndicatorType = (typeof INDICATOR_TYPES)[number];

/** What is looked for, in its one spelling. */
export interface IndicatorValue {
  readonly type: IndicatorType;
  readonly value: string;
  /** Of a range of addresses; null for anything that is one thing. */
  readonly prefixBits: number | null;
}

type Reading =
  | { readonly ok: true; readonly indicator: IndicatorValue }
  | { readonly ok: false; readonly message: string };

/** Hex digits of MD5, SHA-1, SHA-256 and SHA-512. */
const HASH_DIGITS = [32, 40, 64, 128];
const DOMAIN_MAX_CHARS = 253;
/** The widest ranges: what a registry gives to one holder. A wider one is a part of the internet, and says nothing of anybody. */
const PREFIX_MIN_BITS = { 32: 8, 128: 16 } as const;
/** How names on the internet and in networks of one's own end; entries are searched for no others. */
const TOP = /^(?:[a-z]{2,24}|xn--[a-z0-9-]+)$/;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Reads an indicator as people pass it on, defanged or not: `hxxps://Evil[.]example/`, `192.0.2.0/24`, `SHA256:…`. The message
 * of a refusal begins with a verb.
 */
export function readIndicator(type: IndicatorType, text: string): Reading {
  const plain = refanged(text.trim());
  if (type === "ip") return readIp(plain);
  return type === "domain" ? readDomain(plain) : readHash(plain);
}

/** What a text is, if it is any kind of indicator. */
export function guessIndicator(text: string): IndicatorValue | null {
  for (const type of INDICATOR_TYPES) {
    const read = readIndicator(type, text);
    if (read.ok) return read.indicator;
  }
  return null;
}

/** A domain and the domains it lies in, but for the top level. */
export function domainAndParents(domain: string): string[] {
  const labels = domain.split(".");
  return labels.slice(0, -1).map((_, i) => labels.slice(i).join("."));
}

/** What is written so that nobody clicks on it, as it was. */
function refanged(text: string): string {
  return text
    .replace(/^(?:hxxp|h\*\*p|meow)(s?)(?=\[?:)/i, "http$1")
    .replace(/\[(?::\/\/|:)\]/g, (found) => found.slice(1, -1))
    .replace(/\s*[[({]\s*(?:\.|dot)\s*[\])}]\s*/gi, ".")
    .replaceAll("\\.", ".");
}

function read(type: IndicatorType, value: string, prefixBits: number | null = null): Reading {
  return { ok: true, indicator: { type, value, prefixBits } };
}

function refused(message: string): Reading {
  return { ok: false, message };
}

function readIp(text: string): Reading {
  const network = readNetwork(hostOf(text).replace(/^\[(.*)\]$/, "$1"));
  if (network === null) return refused("is no IP address and no range in CIDR notation");
  const { address, prefixBits, bits } = network;
  if (prefixBits === 0) return refused("is every address there is");
  const leastBits = PREFIX_MIN_BITS[bits];
  if (prefixBits < leastBits)
    return refused(`is a range wider than /${leastBits}, a part of the internet and nobody's`);
  return prefixBits === bits ? read("ip", address) : read("ip", `${address}/${prefixBits}`, prefixBits);
}

function readDomain(text: string): Reading {
  const host = hostOf(text).replace(/^\*\./, "").replace(/\.$/, "");
  // What has a path is about a page, and not about everything of its host.
  if (host.includes("/"))
    return refused("is no domain; of a URL with a path, give the domain if all of it is meant");
  const domain = domainToASCII(host).toLowerCase();
  const labels = domain.split(".");
  if (domain === "" || domain.length > DOMAIN_MAX_CHARS || !labels.every((label) => LABEL.test(label)))
    return refused("is no domain");
  if (labels.length < 2) return refused("is a name without a dot, which is no domain of the internet");
  if (isIP(domain) !== 0 || /^[0-9]+$/.test(labels.at(-1) ?? ""))
    return refused("is no domain but an address");
  if (!TOP.test(labels.at(-1) ?? "")) return refused("is no domain: none ends in other than 2 to 24 letters");
  return read("domain", domain);
}

function readHash(text: string): Reading {
  const digits = text.replace(/^(?:md5|sha-?1|sha-?256|sha-?512)[:=]\s*/i, "").toLowerCase();
  if (/^[0-9a-f]+$/.test(digits) && HASH_DIGITS.includes(digits.length)) return read("hash", digits);
  return refused("is no MD5, SHA-1, SHA-256 or SHA-512 in hex digits");
}

/** The host of a URL that says nothing else, or the text. */
function hostOf(text: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#@]+?)(?::[0-9]{1,5})?\/?$/i.exec(text)?.[1] ?? text;
}

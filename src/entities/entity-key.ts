import { guessIndicator, readIndicator } from "./indicators/indicator-value.ts";
import { canonicalAddress } from "./indicators/ip-network.ts";

/** What there can be in the graph; spec 4.11. */
export const ENTITY_TYPES = [
  "service",
  "host",
  "asset",
  "identity",
  "ioc",
  "monitor",
  "incident",
  "case",
  "detection",
  "ai_agent",
  "ip",
  "domain",
  "model",
  "tool",
  "metric",
  "location",
] as const;
export type EntityType = (typeof ENTITY_TYPES)[number];

const ENTITY_KEY_MAX_CHARS = 512;

/**
 * The one spelling of what an entity is known by: addresses as RFC 5952 has them, hosts, identities and domains in small letters,
 * indicators by their value, records by their id. Null for what can be no key of the type.
 */
export function entityKey(type: EntityType, text: string): string | null {
  // A tab is what parts names in the log store.
  const key = keyOf(type, text.replaceAll("\t", " ").trim());
  if (key === null || key === "" || key.includes("\0") || !key.isWellFormed()) return null;
  return [...key].length <= ENTITY_KEY_MAX_CHARS ? key : null;
}

function keyOf(type: EntityType, text: string): string | null {
  switch (type) {
    case "ip":
    case "asset":
      return canonicalAddress(text);
    case "domain": {
      const read = readIndicator("domain", text);
      return read.ok ? read.indicator.value : null;
    }
    case "ioc":
      return guessIndicator(text)?.value ?? null;
    case "host":
    case "identity":
      return text.toLowerCase();
    case "monitor":
    case "incident":
    case "detection":
    case "case":
      return /^[1-9][0-9]{0,14}$/.test(text) ? text : null;
    default:
      return text;
  }
}

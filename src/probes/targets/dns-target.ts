import { type HostTarget, parseHostTarget } from "./host-target.ts";

const DNS_TYPES = ["A", "AAAA", "CNAME", "MX", "NS", "TXT", "SRV", "CAA", "PTR", "SOA"] as const;
export type DnsType = (typeof DNS_TYPES)[number];

export interface DnsTarget {
  /** Whom to ask; null is the resolver of the system. */
  readonly server: { readonly host: string; readonly port: number } | null;
  readonly name: string;
  readonly type: DnsType;
}

const DNS_PORT = 53;
const NAME_MAX_CHARS = 253;
const NAME =
  /^(?:[\p{L}\p{N}_*](?:[\p{L}\p{N}_-]*[\p{L}\p{N}_])?\.)*[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}_])?\.?$/u;

/**
 * Reads a name, or what RFC 4501 writes: `dns://server/name?type=MX`, `dns:name`, parameters apart by `;` or `&`. The type
 * is A unless told, the class IN. Null for what is none of it.
 */
export function parseDnsTarget(text: string): DnsTarget | null {
  const withoutScheme = text.trim().replace(/^dns:/i, "");
  const [, authority, rest = withoutScheme] = /^\/\/([^/]*)\/(.*)$/s.exec(withoutScheme) ?? [];
  const [, written = "", query = ""] = /^([^?]*)(?:\?(.*))?$/s.exec(rest) ?? [];
  const type = recordType(query);
  const name = decoded(written);
  const server = authority === undefined || authority === "" ? null : serverOf(parseHostTarget(authority));
  if (type === null || server === undefined) return null;
  if (name === null || name.length > NAME_MAX_CHARS || !NAME.test(name)) return null;
  return { server, name: name.replace(/\.$/, ""), type };
}

function serverOf(target: HostTarget | null): DnsTarget["server"] | undefined {
  return target === null ? undefined : { host: target.host, port: target.port ?? DNS_PORT };
}

function recordType(query: string): DnsType | null {
  let type = "A";
  for (const parameter of query.split(/[;&]/).filter((part) => part !== "")) {
    const [key = "", value = ""] = parameter.split("=");
    if (key.toLowerCase() === "type") type = value.toUpperCase();
    else if (key.toLowerCase() !== "class" || value.toUpperCase() !== "IN") return null;
  }
  return DNS_TYPES.find((known) => known === type) ?? null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

import { isIPv6 } from "node:net";
import { plainHost } from "../../outbound/outbound-policy.ts";

export interface HostTarget {
  /** In small letters if one was written. */
  readonly scheme: string | null;
  /** As URLs of HTTP write it, whatever the spelling: an address in another notation is the address. */
  readonly host: string;
  readonly port: number | null;
}

/** A scheme, what is called by it, and whatever follows a slash, a question mark or a number sign. */
const PARTS = /^(?:([a-z][a-z0-9+.-]*):\/\/)?([^/?#\\\s@]+)(?:[/?#].*)?$/i;
const PORT = /:(\d{1,5})$/;

/** Reads `host`, `host:port` or a URL with them; null for what is none, and for one with credentials. */
export function parseHostTarget(text: string): HostTarget | null {
  const [, scheme, authority] = PARTS.exec(text.trim()) ?? [];
  if (authority === undefined) return null;
  const isBareIpv6 = isIPv6(authority);
  const portText = isBareIpv6 ? undefined : PORT.exec(authority)?.[1];
  const port = portText === undefined ? null : Number(portText);
  if (port !== null && (port < 1 || port > 65_535)) return null;
  const name = portText === undefined ? authority : authority.slice(0, -portText.length - 1);
  // A second port, or the beginning of an address of IPv6.
  if (!isBareIpv6 && !name.endsWith("]") && name.includes(":")) return null;
  const url = URL.parse(`http://${isBareIpv6 ? `[${name}]` : name}/`);
  if (url === null || url.hostname === "") return null;
  return { scheme: scheme?.toLowerCase() ?? null, host: plainHost(url.hostname), port };
}

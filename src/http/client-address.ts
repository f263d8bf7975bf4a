import { BlockList, isIP, isIPv4 } from "node:net";
import { MAX_FORWARDED_HOPS, REMEMBERED_HOP_MAX_CHARS, REMEMBERED_HOPS_MAX } from "./limits.ts";

/** Says from where a request comes: the peer, or, behind trusted proxies, whom they vouch for. */
export type ClientAddressResolver = (peerAddress: string | undefined, request: Request) => string;

/** Stands for a peer without an address, as on a Unix socket. */
export const UNKNOWN_ADDRESS = "unknown";

/**
 * Makes the resolver for a list of trusted proxies, each an address or a CIDR. X-Forwarded-For is believed from the
 * right as far as trusted proxies wrote it; the rest is what the client claims. Throws for an entry that is neither.
 */
export function clientAddressResolver(trustedProxies: readonly string[]): ClientAddressResolver {
  const trusted = trustedProxies.length === 0 ? undefined : blockListOf(trustedProxies);
  const hopOf = rememberingHops((text) => {
    const address = hopAddress(text);
    return address === undefined
      ? null
      : { address, isTrusted: trusted !== undefined && contains(trusted, address) };
  });
  return (peerAddress, request) => {
    const peer = peerAddress === undefined ? UNKNOWN_ADDRESS : normalizeAddress(peerAddress);
    if (trusted === undefined || hopOf(peer)?.isTrusted !== true) return peer;
    const forwardedFor = request.headers.get("x-forwarded-for") ?? "";
    let client = peer;
    for (const text of forwardedFor.split(",").slice(-MAX_FORWARDED_HOPS).reverse()) {
      const hop = hopOf(text.trim());
      if (hop === null) return client;
      client = hop.address;
      if (!hop.isTrusted) return client;
    }
    return client;
  };
}

/** What one hop of a request is; null for what is no address. */
type Hop = { readonly address: string; readonly isTrusted: boolean } | null;

/** Whoever asks asks again: judging an address costs more than all else that is done to find it. */
function rememberingHops(judge: (text: string) => Hop): (text: string) => Hop {
  const known = new Map<string, Hop>();
  return (text) => {
    const told = known.get(text);
    if (told !== undefined) return told;
    const hop = judge(text);
    if (text.length > REMEMBERED_HOP_MAX_CHARS) return hop;
    if (known.size >= REMEMBERED_HOPS_MAX) known.clear();
    known.set(text, hop);
    return hop;
  };
}

/** The key under which an address is limited: an IPv6 client owns its whole /64, so that is what counts. */
export function addressKey(address: string): string {
  if (!address.includes(":")) return `ip:${address}`;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  // What `::` stands for is zeros; the groups after it only matter when they reach into the first four.
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : 8 - groups.length - after.length;
  const prefix = [...groups, ...new Array<string>(Math.max(0, zeros)).fill("0"), ...after].slice(0, 4);
  return `ip:${prefix.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

/** An IPv4 address that came in IPv6 clothes (`::ffff:192.0.2.1`) without them, and no zone. */
export function normalizeAddress(address: string): string {
  if (!address.includes(":")) return address;
  const plain = address.replace(/%.*$/, "").toLowerCase();
  const mapped = plain.startsWith("::ffff:") ? plain.slice(7) : plain;
  return isIPv4(mapped) ? mapped : plain;
}

function hopAddress(text: string): string | undefined {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1];
  const withPort = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1];
  const address = normalizeAddress(bracketed ?? withPort ?? text);
  return isIP(address) === 0 ? undefined : address;
}

function blockListOf(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix, ...rest] = entry.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    const bits = prefix === undefined ? undefined : Number(prefix);
    const isValid =
      rest.length === 0 && isIP(address) !== 0 && (prefix === undefined || /^\d{1,3}$/.test(prefix));
    if (!isValid || (bits !== undefined && bits > (family === "ipv6" ? 128 : 32))) {
      throw new Error(`${entry} is neither an address nor a CIDR`);
    }
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, bits, family);
  }
  return list;
}

function contains(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 6 ? "ipv6" : "ipv4");
}

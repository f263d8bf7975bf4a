import { BlockList, isIP, isIPv4 } from "node:net";

/**
 * What an address is to a server that connects on somebody's behalf: `public` is the internet, `private` a network of
 * the operator's, `reserved` everything that no stranger has business with: this machine, the link, cloud metadata
 * services, multicast, documentation and tunnels.
 */
type AddressClass = "public" | "private" | "reserved";

/** A class and the size of the range that gives it, in bits of prefix. */
interface ClassifiedAddress {
  /** The address itself, or the IPv4 address that an IPv6 one stands for. */
  readonly address: string;
  readonly class: AddressClass;
  readonly prefixBits: number;
}

interface Range {
  readonly network: BlockList;
  readonly class: AddressClass;
  readonly prefixBits: number;
}

const EVERY_BIT = 128;

/** From the IANA special-purpose registries, and what cloud providers document; the first that fits counts. */
const IPV4_RANGES: readonly Range[] = [
  ...reserved("100.100.100.200/32", "168.63.129.16/32"),
  ...reserved("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24"),
  ...reserved("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
  ...["10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16"].map((range) =>
    rangeOf(range, "private"),
  ),
  rangeOf("0.0.0.0/0", "public"),
];

const IPV6_RANGES: readonly Range[] = [
  ...reserved("fd00:ec2::254/128", "fd20:ce::254/128", "::1/128", "::/128"),
  ...reserved("fe80::/10", "ff00::/8", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
  rangeOf("fc00::/7", "private"),
  rangeOf("2000::/3", "public"),
];

/** The IPv6 prefixes of 96 bits behind which an IPv4 address stands: mapped ones, and those a NAT64 translates. */
const IPV4_BEHIND: readonly BlockList[] = ["::ffff:0:0/96", "64:ff9b::/96"].map(
  (range) => rangeOf(range, "public").network,
);

/** Says what an address is; null for a text that is none. */
export function classifyAddress(text: string): ClassifiedAddress | null {
  const plain = text.replace(/%.*$/, "");
  const version = isIP(plain);
  if (version === 0) return null;
  const address = version === 6 ? (ipv4Behind(plain) ?? plain) : plain;
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  const found = (family === "ipv4" ? IPV4_RANGES : IPV6_RANGES).find((range) =>
    range.network.check(address, family),
  );
  // What is neither the internet nor known otherwise is opened by nothing but its exact address.
  if (found === undefined) return { address, class: "reserved", prefixBits: EVERY_BIT };
  return { address, class: found.class, prefixBits: found.prefixBits };
}

function ipv4Behind(address: string): string | null {
  // Asked first, for Node sees a mapped address as an IPv4 one in rules of either family.
  if (!IPV4_BEHIND.some((prefix) => prefix.check(address, "ipv6"))) return null;
  const dotted = /(?:^|:)(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(":");
  const [high, low] = groups.slice(-2).map((group) => Number.parseInt(group === "" ? "0" : group, 16));
  if (high === undefined || low === undefined) return null;
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function reserved(...ranges: readonly string[]): Range[] {
  return ranges.map((range) => rangeOf(range, "reserved"));
}

function rangeOf(cidr: string, addressClass: AddressClass): Range {
  const [address = "", bits = ""] = cidr.split("/");
  const network = new BlockList();
  network.addSubnet(address, Number(bits), isIPv4(address) ? "ipv4" : "ipv6");
  return { network, class: addressClass, prefixBits: Number(bits) };
}

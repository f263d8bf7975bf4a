import { isIP } from "node:net";

/** An address, or with fewer bits than it has a range of them. */
interface Network {
  /** In its one spelling; an IPv4 address that is written as IPv6 is the IPv4 one. */
  readonly address: string;
  readonly prefixBits: number;
  readonly bits: 32 | 128;
}

/** `::ffff:0:0/96`, the addresses of IPv4 in IPv6. */
const MAPPED = 0xffffn;

/** The one spelling of an address (RFC 5952 for IPv6); null for what is none. */
export function canonicalAddress(text: string): string | null {
  const version = isIP(text);
  if (version === 4) return text;
  if (version === 0 || text.includes("%")) return null;
  const number = ipv6Number(text);
  return number >> 32n === MAPPED ? ipv4Text(number & 0xffff_ffffn) : ipv6Text(number);
}

/** Reads `192.0.2.0/24` or an address alone; null for what is neither. */
export function readNetwork(text: string): Network | null {
  const [address = "", prefix, ...rest] = text.split("/");
  const canonical = rest.length === 0 ? canonicalAddress(address) : null;
  if (canonical === null) return null;
  const bits = isIP(canonical) === 4 ? 32 : 128;
  if (prefix === undefined) return { address: canonical, prefixBits: bits, bits };
  // Bits that are counted of another notation than the one that is kept would be another range.
  if (!/^(0|[1-9][0-9]{0,2})$/.test(prefix) || Number(prefix) > bits || isIP(address) !== isIP(canonical))
    return null;
  const prefixBits = Number(prefix);
  return { address: networkAddress(canonical, prefixBits), prefixBits, bits };
}

/** The first address of the range of so many bits that an address, in its one spelling, lies in. */
export function networkAddress(address: string, prefixBits: number): string {
  const isIpv4 = isIP(address) === 4;
  const bits = isIpv4 ? 32 : 128;
  const free = BigInt(bits - prefixBits);
  const first = ((isIpv4 ? ipv4Number(address) : ipv6Number(address)) >> free) << free;
  return isIpv4 ? ipv4Text(first) : ipv6Text(first);
}

/** The sixteen bytes of an address in its one spelling; of an IPv4 one as it is written in IPv6. */
export function addressBytes(address: string): Uint8Array {
  let rest = isIP(address) === 4 ? (MAPPED << 32n) | ipv4Number(address) : ipv6Number(address);
  const bytes = new Uint8Array(16);
  for (let i = 15; i >= 0; i--) {
    bytes[i] = Number(rest & 255n);
    rest >>= 8n;
  }
  return bytes;
}

function ipv4Number(address: string): bigint {
  return address.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n);
}

function ipv4Text(number: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join(".");
}

function ipv6Number(address: string): bigint {
  // The last two groups may be written as an IPv4 address.
  const dotted = /[^:]*\.[^:]*$/.exec(address)?.[0];
  const low = dotted === undefined ? 0n : ipv4Number(dotted);
  const hex =
    dotted === undefined
      ? address
      : `${address.slice(0, -dotted.length)}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`;
  const [left = "", right] = hex.split("::");
  const groupsOf = (text: string): string[] => (text === "" ? [] : text.split(":"));
  const before = groupsOf(left);
  const after = right === undefined ? [] : groupsOf(right);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

/** The longest run of zeros, the first of them, is left out (RFC 5952, section 4.2). */
function ipv6Text(number: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) =>
    ((number >> BigInt(112 - 16 * i)) & 0xffffn).toString(16),
  );
  const runs = [...`${groups.map((group) => (group === "0" ? "0" : "x")).join("")}`.matchAll(/0{2,}/g)];
  const longest = runs.toSorted((a, b) => b[0].length - a[0].length)[0];
  if (longest === undefined) return groups.join(":");
  const end = longest.index + longest[0].length;
  return `${groups.slice(0, longest.index).join(":")}::${groups.slice(end).join(":")}`;
}

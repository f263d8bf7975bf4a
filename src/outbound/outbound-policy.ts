import { BlockList, isIP, isIPv4 } from "node:net";
import { classifyAddress } from "./address-class.ts";

interface OutboundPolicyOptions {
  /** Host names, addresses and CIDRs that may be connected to besides the internet. */
  readonly allow: readonly string[];
  /** Opens the private ranges; never this machine, the link or metadata services. */
  readonly allowPrivate: boolean;
}

interface AllowedNetwork {
  readonly family: "ipv4" | "ipv6";
  readonly network: BlockList;
  readonly prefixBits: number;
}

/** Judges to which addresses the server connects on behalf of those who use it. */
export class OutboundPolicy {
  readonly #options: OutboundPolicyOptions;
  readonly #hosts: ReadonlySet<string>;
  readonly #networks: readonly AllowedNetwork[];

  /** Throws an Error for a CIDR that is none. */
  constructor(options: OutboundPolicyOptions) {
    this.#options = options;
    const networks = options.allow.filter((entry) => isIP(entry.split("/")[0] ?? "") !== 0);
    this.#networks = networks.map(allowedNetwork);
    this.#hosts = new Set(options.allow.filter((entry) => !networks.includes(entry)).map(plainHost));
  }

  /** The policy with one more host allowed, which its operator has named elsewhere. */
  allowing(host: string): OutboundPolicy {
    return new OutboundPolicy({ ...this.#options, allow: [...this.#options.allow, plainHost(host)] });
  }

  /** Whether a request to `host` may connect to `address`, one of those the host has. */
  admits(host: string, address: string): boolean {
    const found = classifyAddress(address);
    if (found === null) return false;
    if (found.class === "public" || this.#hosts.has(plainHost(host))) return true;
    if (found.class === "private" && this.#options.allowPrivate) return true;
    // A wide range does not open by chance what is reserved inside it: the entry must lie within the reserved range.
    const leastBits = found.class === "private" ? 0 : found.prefixBits;
    return this.#contains(found.address, leastBits);
  }

  /** Whether the operator has listed this very host, so that more may be expected of it than of a stranger's. */
  names(host: string): boolean {
    const name = plainHost(host);
    return this.#hosts.has(name) || (isIP(name) !== 0 && this.#contains(name, 0));
  }

  #contains(address: string, leastBits: number): boolean {
    const family = isIPv4(address) ? "ipv4" : "ipv6";
    return this.#networks.some(
      (allowed) =>
        allowed.family === family &&
        allowed.prefixBits >= leastBits &&
        allowed.network.check(address, family),
    );
  }
}

/** A host as URLs write it, without brackets, trailing dot and capitals. */
export function plainHost(host: string): string {
  return host
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
}

function allowedNetwork(entry: string): AllowedNetwork {
  const [address = "", bits] = entry.split("/");
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  const prefixBits = bits === undefined ? (family === "ipv4" ? 32 : 128) : Number(bits);
  const network = new BlockList();
  network.addSubnet(address, prefixBits, family);
  return { family, network, prefixBits };
}

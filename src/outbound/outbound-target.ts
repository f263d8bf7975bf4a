import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { OUTBOUND_ADDRESSES_MAX } from "./limits.ts";
import { OutboundError } from "./outbound-error.ts";
import { type OutboundPolicy, plainHost } from "./outbound-policy.ts";

/** Answers every address of a host name, in the order in which to try them; none when the name is unknown. */
export type HostResolver = (host: string) => Promise<readonly string[]>;

/** Where a request may go: the URL, and the addresses of its host, which have been judged. */
export interface OutboundTarget {
  readonly url: URL;
  readonly host: string;
  readonly addresses: readonly string[];
}

/**
 * Judges where a URL leads. Connecting to one of the addresses answered, and to nothing else, is what makes it safe:
 * a name may lead elsewhere the next time it is asked for. Throws OutboundError, `blocked` also when only one of
 * several addresses is refused.
 */
export async function admitTarget(
  url: URL,
  policy: OutboundPolicy,
  resolve: HostResolver,
): Promise<OutboundTarget> {
  const isPlainAddress = url.protocol === "http:" || url.protocol === "https:";
  if (!isPlainAddress || url.username !== "" || url.password !== "") throw new OutboundError("blocked");
  const host = plainHost(url.hostname);
  const addresses = isIP(host) === 0 ? await resolveHost(host, resolve) : [host];
  if (addresses.length > OUTBOUND_ADDRESSES_MAX) throw new OutboundError("blocked");
  if (!addresses.every((address) => policy.admits(host, address))) throw new OutboundError("blocked");
  return { url, host, addresses };
}

/** As the operating system resolves names, its hosts file included. */
export const resolveWithSystem: HostResolver = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

async function resolveHost(host: string, resolve: HostResolver): Promise<readonly string[]> {
  let addresses: readonly string[];
  try {
    addresses = await resolve(host);
  } catch (error) {
    throw new OutboundError("unresolved", { cause: error });
  }
  if (addresses.length === 0) throw new OutboundError("unresolved");
  return addresses;
}

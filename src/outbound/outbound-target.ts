import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { OUTBOUND_ADDRESSES_MAX } from "./limits.ts";
import { OutboundError } from "./outbound-error.ts";
import { type OutboundPolicy, plainHost } from "./outbound-policy.ts";

/** Answers every address of a host name, in the order in which to try them; none when the name is unknown. */
export type HostResolver = (host: string) => Promise<readonly string[]>;

/**
 * Judges where a host leads and answers its addresses. Connecting to one of these, and to nothing else, is what makes it safe:
 * a name may lead elsewhere the next time it is asked for. Throws OutboundError, `blocked` also when only one of
 * several addresses is refused.
 */
export async function admitHost(
  host: string,
  policy: OutboundPolicy,
  resolve: HostResolver,
): Promise<readonly string[]> {
  const name = plainHost(host);
  const addresses = isIP(name) === 0 ? await resolveHost(name, resolve) : [name];
  if (addresses.length > OUTBOUND_ADDRESSES_MAX) throw new OutboundError("blocked");
  if (!addresses.every((address) => policy.admits(name, address))) throw new OutboundError("blocked");
  return addresses;
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

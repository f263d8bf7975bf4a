import { BlockList, isIP } from "node:net";
import type { Sql, TransactionSql } from "postgres";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { domainAndParents, type IndicatorValue } from "./indicator-value.ts";

/**
 * Networks whose addresses every machine has or many networks use: from the IANA special-purpose registries, without those that are
 * for documentation, which nobody has.
 */
const EVERYBODYS = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...["192.168.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "::/127", "fc00::/7", "fe80::/10", "ff00::/8"],
].map((range) => {
  const [address = "", bits = ""] = range.split("/");
  const network = new BlockList();
  network.addSubnet(address, Number(bits), isIP(address) === 4 ? "ipv4" : "ipv6");
  return { network, range, bits: Number(bits) };
});

/** Why an indicator is about too much to say anything, as a sentence without its subject that begins with a verb; null for any other. */
export type BroadReason = (indicator: IndicatorValue) => string | null;

/**
 * What is refused of an organisation's lists: private and other special networks, domains under which anybody registers names, and the
 * organisation's own domains with what they lie in. The list of domains is loaded when it is first asked for.
 */
export async function broadReason(ownDomains: readonly string[]): Promise<BroadReason> {
  const { getPublicSuffix } = await import("tldts");
  const own = new Map(ownDomains.flatMap((domain) => domainAndParents(domain).map((each) => [each, domain])));
  return ({ type, value }) => {
    if (type === "ip") return networkReason(value);
    if (type === "hash") return null;
    if (getPublicSuffix(value, { allowPrivateDomains: true }) === value)
      return "is a domain under which anybody registers names";
    const domain = own.get(value);
    if (domain === undefined) return null;
    return domain === value
      ? "is a domain of this organization"
      : `holds ${domain}, a domain of this organization`;
  };
}

function networkReason(value: string): string | null {
  const [address = "", bits] = value.split("/");
  const family = isIP(address) === 4 ? "ipv4" : "ipv6";
  const prefixBits = bits === undefined ? 128 : Number(bits);
  const found = EVERYBODYS.find((each) => each.bits <= prefixBits && each.network.check(address, family));
  return found === undefined ? null : `lies in ${found.range}, whose addresses are used everywhere`;
}

/** The same of an organisation as it is now. */
export async function broadReasonOf(sql: Sql, organizationId: number): Promise<BroadReason> {
  const own = await askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => ownDomains(tx, organizationId)),
  );
  return broadReason(own);
}

/** Domains that are proven to be the organisation's: those of its single sign-on and of its status pages. */
export async function ownDomains(tx: TransactionSql, organizationId: number): Promise<string[]> {
  const rows = await tx<{ domain: string }[]>`
    SELECT domain FROM sso_domains WHERE organization_id = ${organizationId} AND verified_at IS NOT NULL
    UNION
    SELECT custom_domain FROM status_pages
    WHERE organization_id = ${organizationId} AND custom_domain IS NOT NULL AND custom_domain_proven_at IS NOT NULL`;
  return rows.map(({ domain }) => domain.toLowerCase());
}

import type { Resolver } from "node:dns/promises";
import { isIPv6 } from "node:net";
import type { DnsType } from "./dns-target.ts";

/** Asks for the records of one type and answers each as one text. */
export type RecordReader = (resolver: Resolver, name: string) => Promise<readonly string[]>;

/** The texts are those of zone files, of MX without the priority, and names without the dot at their end. */
export const recordReaders: Readonly<Record<DnsType, RecordReader>> = {
  A: (resolver, name) => resolver.resolve4(name),
  AAAA: (resolver, name) => resolver.resolve6(name),
  CNAME: (resolver, name) => resolver.resolveCname(name),
  NS: (resolver, name) => resolver.resolveNs(name),
  PTR: (resolver, name) => resolver.resolvePtr(name),
  MX: async (resolver, name) => (await resolver.resolveMx(name)).map(({ exchange }) => exchange),
  TXT: async (resolver, name) => (await resolver.resolveTxt(name)).map((parts) => parts.join("")),
  SRV: async (resolver, name) =>
    (await resolver.resolveSrv(name)).map(
      (record) => `${record.priority} ${record.weight} ${record.port} ${record.name}`,
    ),
  CAA: async (resolver, name) => (await resolver.resolveCaa(name)).map(caaText),
  SOA: async (resolver, name) => {
    const record = await resolver.resolveSoa(name);
    const { nsname, hostmaster, serial, refresh, retry, expire, minttl } = record;
    return [[nsname, hostmaster, serial, refresh, retry, expire, minttl].join(" ")];
  },
};

/** Whether a record is what a person expects. Texts count to the letter, names and addresses in any spelling. */
export function isExpectedRecord(type: DnsType, record: string, expected: string): boolean {
  return canonical(type, record) === canonical(type, expected);
}

function canonical(type: DnsType, text: string): string {
  if (type === "TXT") return text;
  if (type === "CAA") return text.trim().replaceAll('"', "");
  const plain = text.trim().toLowerCase();
  if (type === "AAAA" && isIPv6(plain)) return new URL(`http://[${plain}]/`).hostname;
  return plain
    .split(/\s+/)
    .map((part) => part.replace(/\.$/, ""))
    .join(" ");
}

/** `0 issue "authority.example"`: the resolver names the property after its tag. */
function caaText(record: object & { readonly critical: number }): string {
  const { critical, ...tags } = record;
  const [tag, value] = Object.entries(tags).find(([name]) => name !== "type") ?? ["", ""];
  return `${critical} ${tag} "${value}"`;
}

import { isIP } from "node:net";
import { isHostName, ValueProblem, type ValueType } from "./values.ts";

/** A place to connect to. */
interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Hosts with ports, separated by commas. */
export const hostsAndPorts: ValueType<readonly HostAndPort[]> = {
  accepts: "`HOST:PORT`, separated by commas; an IPv6 address in brackets",
  read: (text) =>
    text.split(",").map((entry) => {
      const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(entry.trim()) ?? [];
      const host = bracketed ?? plain ?? "";
      const port = Number(digits);
      const isHost = bracketed === undefined ? isIP(host) === 4 || isHostName(host) : isIP(host) === 6;
      if (!isHost || !(port >= 1 && port <= 65_535))
        throw new ValueProblem(`has an entry that is no host with a port: ${JSON.stringify(entry.trim())}`);
      return { host, port };
    }),
};

/** The regions that probes may stand for. */
const REMOTE_REGIONS = ["weur", "eeur", "enam", "wnam", "apac", "oc", "sam", "afr"] as const;

/** A token for each region. */
export const probeTokens: ValueType<Readonly<Partial<Record<string, string>>>> = {
  accepts: `\`REGION=TOKEN\`, separated by commas, with tokens of 32 to 128 letters, digits, \`_\` or \`-\`; regions are ${REMOTE_REGIONS.join(", ")}`,
  read: (text) => {
    const tokens = new Map<string, string>();
    for (const entry of text.split(",")) {
      const [, region = "", token = ""] = /^([a-z]+)=([\w-]{32,128})$/.exec(entry.trim()) ?? [];
      if (!REMOTE_REGIONS.some((known) => known === region) || tokens.has(region))
        throw new ValueProblem("has an entry that is no region with its token, or a region twice");
      if ([...tokens.values()].includes(token)) throw new ValueProblem("has one token for two regions");
      tokens.set(region, token);
    }
    return Object.fromEntries(tokens);
  },
};

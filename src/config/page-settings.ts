import { setting } from "./setting.ts";
import { isHostName, ValueProblem, type ValueType } from "./values.ts";

const WILDCARD = "*.";

/** Host names, and `*.` before one for all below it. */
const hostPatterns: ValueType<readonly string[]> = {
  accepts: "host names, or `*.` and one, separated by commas",
  read: (text) => {
    const entries = text.split(",").map((entry) => entry.trim().toLowerCase());
    for (const entry of entries) {
      const host = entry.startsWith(WILDCARD) ? entry.slice(WILDCARD.length) : entry;
      if (!isHostName(host))
        throw new ValueProblem(`has an entry that is no host name: ${JSON.stringify(entry)}`);
    }
    return entries;
  },
};

export const PAGE_SETTINGS = {
  statusPageHosts: setting({
    name: "STATUS_PAGE_HOSTS",
    meaning:
      "Hosts that status pages of any organisation may answer on without a DNS record that proves whose they are, as " +
      "`status.example.com,*.pages.example.com`: for a server whose organisations trust each other. Pages that have such a host already are saved or verified once more.",
    type: hostPatterns,
  }),
} as const;

import { hostsAndPorts, probeTokens } from "./probe-values.ts";
import { setting } from "./setting.ts";

/** Where monitors are checked from besides this server, and how it knows that its own line is up. */
export const PROBE_SETTINGS = {
  probeTokens: setting({
    name: "PROBE_TOKENS",
    meaning:
      "What probes in other regions (`obs probe`) prove themselves with, by region. A probe is told what it checks, the " +
      "headers of monitors included: run it on machines of your own.",
    secret: true,
    type: probeTokens,
  }),
  probeCanaries: setting({
    name: "PROBE_CANARIES",
    meaning:
      "Where this server connects to when a target does not answer, as `1.1.1.1:443`. Only when every one of them fails is it " +
      "its own line that is down, and the check says nothing about the target.",
    type: hostsAndPorts,
  }),
} as const;

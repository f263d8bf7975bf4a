import type { Check } from "./check-tools.ts";
import { hostAndPort } from "./host-and-port.ts";

/** Somebody takes connections at the port. */
export const checkTcp: Check = async (spec, { connector, findings, scope }) => {
  const { host, port } = hostAndPort(spec, null);
  const { dnsMs, connectMs } = await connector.dial(host, port, scope);
  findings.connected(dnsMs, connectMs);
};

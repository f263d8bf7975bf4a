import { isIP } from "node:net";
import { type OutboundPolicy, plainHost } from "../../outbound/outbound-policy.ts";
import type { MonitorType } from "../check.ts";
import { parseDnsTarget } from "./dns-target.ts";
import { parseHostTarget } from "./host-target.ts";
import { webAddressOf } from "./web-target.ts";

/** `invalid`: nothing can be watched by this; `blocked`: the policy does not let it be watched, which `OUTBOUND_ALLOW` changes. */
type TargetVerdict = "ok" | "invalid" | "blocked";

/**
 * Judges the target of a monitor as it is saved, of a step its URL. No name is resolved: names are judged each time they are
 * connected to, by where they lead then. `localhost` and what lies under it is this machine by RFC 6761.
 */
export function judgeTarget(type: MonitorType, text: string, policy: OutboundPolicy): TargetVerdict {
  // It is not connected to: the others call.
  if (type === "heartbeat") return "ok";
  // Where a variable stands in the host, nobody knows yet where it leads.
  if (type === "multi_step" && /^[^/?#]*(?:\/\/[^/?#]*)?\{\{/.test(text)) return "ok";
  const host = hostOf(type, text);
  if (host === undefined) return "invalid";
  return host === null || mayBeWatched(host, policy) ? "ok" : "blocked";
}

/** Null where only the resolver of the system is asked, undefined for what is no target. */
function hostOf(type: Exclude<MonitorType, "heartbeat">, text: string): string | null | undefined {
  switch (type) {
    case "http":
    case "https":
    case "keyword":
    case "browser":
    case "multi_step": {
      const address = webAddressOf(type, text);
      return address === null ? undefined : new URL(address).hostname;
    }
    case "dns": {
      const target = parseDnsTarget(text);
      return target === null ? undefined : (target.server?.host ?? null);
    }
    case "tcp":
    case "port":
    case "ping":
    case "ssl":
    case "smtp":
      return parseHostTarget(text)?.host;
  }
}

function mayBeWatched(host: string, policy: OutboundPolicy): boolean {
  const name = plainHost(host);
  if (isIP(name) !== 0) return policy.admits(name, name);
  return !/(?:^|\.)localhost$/.test(name) || policy.admits(name, "127.0.0.1");
}

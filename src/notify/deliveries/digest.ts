import type { Notification } from "../channels/notification.ts";
import { DIGEST_TITLES_MAX } from "./limits.ts";

/** Several messages to one receiver in one: how many of what, and what the first of them say. */
export function digestOf(notifications: readonly Notification[]): Notification {
  const [first] = notifications;
  if (first === undefined) throw new Error("a digest of nothing");
  if (notifications.length === 1) return first;
  const newest = notifications.at(-1) ?? first;
  const problems = notifications.filter(({ tone }) => tone === "problem").length;
  const recoveries = notifications.filter(({ tone }) => tone === "recovery").length;
  const rest = notifications.length - DIGEST_TITLES_MAX;
  return {
    type: "digest",
    tone: problems > recoveries ? "problem" : "note",
    at: newest.at,
    severity: worst(notifications),
    title: `${notifications.length} notifications: ${problems} opened, ${recoveries} resolved`,
    lines: [
      ...notifications.slice(0, DIGEST_TITLES_MAX).map(({ title }) => title),
      ...(rest > 0 ? [`and ${rest} more`] : []),
    ],
    incidentId: null,
    incident: null,
    monitor: null,
    link: null,
    acknowledgeLink: null,
  };
}

const RANKS = ["low", "medium", "high", "critical"] as const;

function worst(notifications: readonly Notification[]): Notification["severity"] {
  const rank = Math.max(...notifications.map(({ severity }) => RANKS.indexOf(severity)));
  return RANKS[rank] ?? "low";
}

import { atMost, atMostBytes, type HttpChannel, hostOf, isOver, jsonPost } from "./channel.ts";
import { pagingKey, tellsPagers } from "./paging.ts";
import type { TargetOf } from "./target.ts";

const SUMMARY_MAX_CHARS = 1024;
/** Of an event, 512 KiB are taken. */
const DETAILS_MAX_BYTES = 256 * 1024;
const SEVERITIES = { low: "info", medium: "warning", high: "error", critical: "critical" } as const;

/** PagerDuty's Events API v2: one alert for each incident, which it acknowledges and resolves by the same key. */
export const pagingA: HttpChannel<TargetOf<"pagingA">> = {
  lane: (_target, { pagingA: origin }) => hostOf(origin),
  tells: tellsPagers,
  request: ({ routingKey }, notification, { id, endpoints }) => {
    const { title, lines, at, tone, severity, monitor, link } = notification;
    const event = {
      routing_key: routingKey,
      event_action: isOver(notification) ? "resolve" : tone === "answered" ? "acknowledge" : "trigger",
      dedup_key: pagingKey(notification, id),
      client: "obs",
      ...(link !== null && { client_url: link, links: [{ href: link, text: "Incident" }] }),
      payload: {
        summary: atMost(title, SUMMARY_MAX_CHARS),
        source: monitor?.name ?? "obs",
        severity: SEVERITIES[severity],
        timestamp: at,
        custom_details: { text: atMostBytes(lines.join("\n"), DETAILS_MAX_BYTES) },
      },
    };
    return jsonPost(`${endpoints.pagingA}/v2/enqueue`, event, { isOperators: true });
  },
};

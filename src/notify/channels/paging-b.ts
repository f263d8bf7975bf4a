import { atMost, type HttpChannel, hostOf, isOver, jsonPost } from "./channel.ts";
import { pagingKey, tellsPagers } from "./paging.ts";
import type { TargetOf } from "./target.ts";

const MESSAGE_MAX_CHARS = 130;
const DESCRIPTION_MAX_CHARS = 15_000;
const SOURCE_MAX_CHARS = 100;
const NOTE_MAX_CHARS = 25_000;
const PRIORITIES = { low: "P4", medium: "P3", high: "P2", critical: "P1" } as const;

/** Opsgenie's Alert API v2: one alert for each incident, under an alias by which it is acknowledged and closed. */
export const pagingB: HttpChannel<TargetOf<"pagingB">> = {
  lane: (_target, { pagingB: origin }) => hostOf(origin),
  tells: tellsPagers,
  request: ({ apiKey }, notification, { id, endpoints }) => {
    const { title, lines, tone, severity, monitor, link } = notification;
    const options = { headers: { authorization: `GenieKey ${apiKey}` }, isOperators: true };
    const alias = pagingKey(notification, id);
    const alerts = `${endpoints.pagingB}/v2/alerts`;
    const source = atMost(monitor?.name ?? "obs", SOURCE_MAX_CHARS);
    const note = { source, note: atMost(title, NOTE_MAX_CHARS) };
    const known = `${alerts}/${encodeURIComponent(alias)}`;
    if (isOver(notification)) return jsonPost(`${known}/close?identifierType=alias`, note, options);
    if (tone === "answered") return jsonPost(`${known}/acknowledge?identifierType=alias`, note, options);
    const alert = {
      message: atMost(title, MESSAGE_MAX_CHARS),
      alias,
      source,
      priority: PRIORITIES[severity],
      description: atMost([...lines, ...(link === null ? [] : [link])].join("\n"), DESCRIPTION_MAX_CHARS),
    };
    return jsonPost(alerts, alert, options);
  },
};

import type { ForeignRecord } from "./foreign-record.ts";
import { durationMs } from "./gatus-conditions.ts";
import type { Imported } from "./imported.ts";
import { Channels, within } from "./monitor-terms.ts";

/** By the name of a provider: its settings and the channels that they fill. */
const PROVIDERS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  slack: [["webhook-url", "alertChatAUrl"]],
  mattermost: [["webhook-url", "alertChatAUrl"]],
  discord: [["webhook-url", "alertChatBUrl"]],
  teams: [["webhook-url", "alertChatCUrl"]],
  "teams-workflows": [["webhook-url", "alertChatCUrl"]],
  telegram: [
    ["token", "alertChatDBotToken"],
    ["id", "alertChatDChatId"],
  ],
  pagerduty: [["integration-key", "alertPagingARoutingKey"]],
  opsgenie: [["api-key", "alertPagingBApiKey"]],
  email: [["to", "alertEmail"]],
  custom: [["url", "alertWebhookUrl"]],
};
/** What a default alert of Gatus says where it says nothing. */
const FAILURES = 3;
const SUCCESSES = 2;

/** The channels and thresholds of the alerts of an endpoint; what has no counterpart goes to `notes`. */
export function gatusChannels(
  alerts: readonly ForeignRecord[],
  alerting: ForeignRecord,
  key: string,
  imported: Imported,
  notes: string[],
): Record<string, unknown> {
  const channels = new Channels(key, imported);
  const failures: number[] = [];
  const successes: number[] = [];
  const reminders: number[] = [];
  for (const alert of alerts) {
    const type = alert.text("type") ?? "";
    const provider = alerting.record(type);
    const standard = provider.record("default-alert");
    alert.pass("description", "send-on-resolved");
    if (!alert.flag("enabled", standard.flag("enabled", true))) {
      notes.push(`the alert by ${type}: it is switched off`);
      continue;
    }
    failures.push(alert.number("failure-threshold") ?? standard.number("failure-threshold") ?? FAILURES);
    successes.push(alert.number("success-threshold") ?? standard.number("success-threshold") ?? SUCCESSES);
    const reminder = alert.text("minimum-reminder-interval") ?? standard.text("minimum-reminder-interval");
    const everyMs = durationMs(reminder ?? "");
    if (everyMs !== null && everyMs > 0) reminders.push(everyMs / 1000);
    const override = alert.record("provider-override");
    const wanted = Object.hasOwn(PROVIDERS, type) ? (PROVIDERS[type] ?? []) : [];
    const values = wanted.map(
      ([member, channel]) => [channel, override.text(member) ?? provider.text(member)] as const,
    );
    if (wanted.length === 0) notes.push(`the alert by ${type}: there is no such channel`);
    for (const [channel, value] of values) {
      if (value === null) notes.push(`the alert by ${type}: its settings are not there`);
      else if (!setChannel(channels, channel, value))
        notes.push(`the alert by ${type}: there is another of its type`);
    }
    for (const part of alert.unread()) notes.push(`${part} of the alert by ${type}`);
  }
  if (new Set(failures).size > 1)
    notes.push(`alerts after ${failures.join(" and ")} failures; it is the fewest`);
  return {
    ...channels.fields,
    ...(failures.length > 0 && {
      alertThreshold: within(Math.min(...failures), [1, 10], "a number of failures", notes),
      recoveryThreshold: within(Math.min(...successes), [1, 10], "a number of successes", notes),
    }),
    ...(reminders.length > 0 && {
      remindEverySec: within(Math.min(...reminders), [60, 604_800], "an interval of reminders", notes),
    }),
  };
}

/** A variable, which Gatus puts in by itself, is one of the environment here, too. */
function setChannel(channels: Channels, channel: string, value: string): boolean {
  const [, variable] = /^\$\{?(\w+)\}?$/.exec(value) ?? [];
  if (channel === "alertEmail") return channels.set(channel, value.split(",")[0]?.trim() ?? value);
  return variable === undefined ? channels.set(channel, value) : channels.refer(channel, variable);
}

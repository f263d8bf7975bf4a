import { parseJsonOrUndefined } from "../../api/json.ts";
import { ForeignRecord } from "./foreign-record.ts";

/** Whom a notification of Uptime Kuma reaches, as channels of a monitor; `problem` says why it has become none. */
export interface KumaChannel {
  readonly name: string;
  readonly isActive: boolean;
  readonly fields: readonly (readonly [string, string])[];
  readonly problem: string | null;
}

/** By the type of a notification: the members of its settings (`server/notification-providers`) and the channels that they fill. */
const TYPES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  slack: [["slackwebhookURL", "alertChatAUrl"]],
  mattermost: [["mattermostWebhookUrl", "alertChatAUrl"]],
  "rocket.chat": [["rocketwebhookURL", "alertChatAUrl"]],
  discord: [["discordWebhookUrl", "alertChatBUrl"]],
  teams: [["webhookUrl", "alertChatCUrl"]],
  telegram: [
    ["telegramBotToken", "alertChatDBotToken"],
    ["telegramChatID", "alertChatDChatId"],
  ],
  webhook: [["webhookURL", "alertWebhookUrl"]],
  smtp: [["smtpTo", "alertEmail"]],
  PagerDuty: [["pagerdutyIntegrationKey", "alertPagingARoutingKey"]],
  Opsgenie: [["opsgenieApiKey", "alertPagingBApiKey"]],
};

/** Reads a row of the table of notifications. */
export function kumaChannels(row: ForeignRecord): KumaChannel {
  const name = row.text("name") ?? "a notification";
  const isActive = row.flag("active", true);
  const config = new ForeignRecord(parseJsonOrUndefined(row.text("config") ?? ""));
  const type = config.text("type") ?? "";
  const wanted = Object.hasOwn(TYPES, type) ? (TYPES[type] ?? []) : [];
  const fields = wanted.flatMap(([member, channel]): [string, string][] => {
    const value = config.text(member);
    if (value === null) return [];
    return [[channel, channel === "alertEmail" ? (value.split(/[,;]/)[0] ?? "").trim() : value]];
  });
  const isWhole = wanted.length > 0 && fields.length === wanted.length;
  const problem = isWhole ? null : `the notification ${name}, of the type ${type}: there is no such channel`;
  return { name, isActive, fields: isWhole ? fields : [], problem };
}

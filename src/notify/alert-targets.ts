import type { TransactionSql } from "postgres";
import type { SecretBox } from "../access/secret-box.ts";
import { openAlertChannels, type SealedChannels } from "./alert-channels.ts";
import type { Target } from "./channels/target.ts";

/** The receivers that a record names. */
export function targetsOfChannels(alertEmail: string | null, channels: SealedChannels): Target[] {
  const targets: Target[] = [];
  if (alertEmail !== null) targets.push({ channel: "email", address: alertEmail });
  if (channels.alertWebhookUrl !== null) targets.push({ channel: "webhook", url: channels.alertWebhookUrl });
  if (channels.alertChatAUrl !== null) targets.push({ channel: "chatA", url: channels.alertChatAUrl });
  if (channels.alertChatBUrl !== null) targets.push({ channel: "chatB", url: channels.alertChatBUrl });
  if (channels.alertChatCUrl !== null) targets.push({ channel: "chatC", url: channels.alertChatCUrl });
  const { alertChatDBotToken: botToken, alertChatDChatId: chatId } = channels;
  if (botToken !== null && chatId !== null) targets.push({ channel: "chatD", botToken, chatId });
  if (channels.alertPagingARoutingKey !== null)
    targets.push({ channel: "pagingA", routingKey: channels.alertPagingARoutingKey });
  if (channels.alertPagingBApiKey !== null)
    targets.push({ channel: "pagingB", apiKey: channels.alertPagingBApiKey });
  if (channels.alertSmsNumber !== null) targets.push({ channel: "sms", number: channels.alertSmsNumber });
  if (channels.alertVoiceNumber !== null)
    targets.push({ channel: "voice", number: channels.alertVoiceNumber });
  return targets;
}

/** Tables of records that have channels of their own, as `sealAlertChannels` seals them. */
type ChannelTable = "monitors" | "log_alerts" | "correlation_rules";

/** The receivers that records of an organisation name, each once. */
export async function targetsOfRecords(
  tx: TransactionSql,
  box: SecretBox,
  organizationId: number,
  { table, ids }: { table: ChannelTable; ids: readonly number[] },
): Promise<Target[]> {
  const rows = await tx<{ alert_email: string | null; sealed_channels: Uint8Array | null }[]>`
    SELECT alert_email, sealed_channels FROM ${tx(table)}
    WHERE organization_id = ${organizationId} AND id = ANY(${[...ids]}::bigint[]) ORDER BY id`;
  return eachOnce(
    rows.flatMap((row) =>
      targetsOfChannels(row.alert_email, openAlertChannels(box, table, row.sealed_channels)),
    ),
  );
}

/** The same receiver named by several is told once. */
export function eachOnce(targets: readonly Target[]): Target[] {
  return [...new Map(targets.map((target) => [JSON.stringify(target), target])).values()];
}

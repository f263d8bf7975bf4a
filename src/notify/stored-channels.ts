import type { TransactionSql } from "postgres";
import type { SecretBox } from "../access/secret-box.ts";
import { openAlertChannels, type SealedChannels } from "./alert-channels.ts";

/** The channels of rules that are kept sealed. */
export const RULE_SECRETS = [
  "alertWebhookUrl",
  "alertChatAUrl",
  "alertChatBUrl",
  "alertChatCUrl",
  "alertChatDBotToken",
  "alertChatDChatId",
] as const;

/** The opened channels of the rules of a table that have some, by their ids. */
export async function readAlertChannels(
  tx: TransactionSql,
  organizationId: number,
  table: string,
  box: SecretBox,
): Promise<Map<number, SealedChannels>> {
  const rows = await tx<{ id: string; sealed_channels: Uint8Array }[]>`
    SELECT id, sealed_channels FROM ${tx(table)}
    WHERE organization_id = ${organizationId} AND sealed_channels IS NOT NULL`;
  return new Map(
    rows.map(({ id, sealed_channels: sealed }) => [Number(id), openAlertChannels(box, table, sealed)]),
  );
}

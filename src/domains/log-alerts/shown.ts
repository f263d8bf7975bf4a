import type { TransactionSql } from "postgres";
import { alertChannelFlags } from "../../notify/alert-channels.ts";
import { liveStates } from "../../rules/live/live-states.ts";
import type { LogAlert, StoredLogAlert } from "./types.ts";

/** Rules as people see them: without what is secret, and with how each is. */
export async function shownAlerts(
  tx: TransactionSql,
  organizationId: number,
  alerts: readonly StoredLogAlert[],
): Promise<LogAlert[]> {
  const ids = alerts.map(({ id }) => id);
  const stateOf = await liveStates(tx, organizationId, "log", ids);
  return alerts.map(({ channels, ...alert }) => {
    const { hasAlertWebhook, hasAlertChatA, hasAlertChatB, hasAlertChatC, hasAlertChatD } =
      alertChannelFlags(channels);
    return {
      ...alert,
      ...{ hasAlertWebhook, hasAlertChatA, hasAlertChatB, hasAlertChatC, hasAlertChatD },
      ...stateOf(alert.id),
    };
  });
}

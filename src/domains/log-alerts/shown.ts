import type { TransactionSql } from "postgres";
import { alertChannelFlags } from "../../notify/alert-channels.ts";
import { FAILURES_TO_ERROR } from "../../rules/evaluation/states.ts";
import type { LogAlert, StoredLogAlert } from "./types.ts";

/** How a rule is. */
interface LiveState {
  readonly ruleId: number;
  readonly past: "due" | "counted" | "failed";
  readonly failures: number;
  readonly lastError: string | null;
  readonly evaluatedAt: Date | null;
  readonly isFiring: boolean;
  readonly isPending: boolean;
}

const TOO_EXPENSIVE = "Its entries cannot be counted: the log store refuses the condition as too expensive.";

/** Rules as people see them: without what is secret, and with how each is. */
export async function shownAlerts(
  tx: TransactionSql,
  organizationId: number,
  alerts: readonly StoredLogAlert[],
): Promise<LogAlert[]> {
  const states = await tx<LiveState[]>`
    SELECT r.rule_id::integer AS "ruleId", c.past, r.failures, r.last_error AS "lastError",
           r.evaluated_at AS "evaluatedAt",
           EXISTS (SELECT 1 FROM rule_groups g WHERE g.live_rule_id = r.id
                   AND g.state #>> '{state,incident}' IS NOT NULL) AS "isFiring",
           EXISTS (SELECT 1 FROM rule_groups g WHERE g.live_rule_id = r.id
                   AND g.state #>> '{state,kind}' = 'pending') AS "isPending"
    FROM live_rules r JOIN log_counters c ON c.id = r.counter_id
    WHERE r.organization_id = ${organizationId} AND r.kind = 'log'
      AND r.rule_id = ANY(${alerts.map(({ id }) => id)}::bigint[])`;
  const byRule = new Map(states.map((state) => [state.ruleId, state]));
  return alerts.map((alert) => shown(alert, byRule.get(alert.id) ?? null));
}

function shown({ channels, ...alert }: StoredLogAlert, live: LiveState | null): LogAlert {
  const { hasAlertWebhook, hasAlertChatA, hasAlertChatB, hasAlertChatC, hasAlertChatD } =
    alertChannelFlags(channels);
  return {
    ...alert,
    ...{ hasAlertWebhook, hasAlertChatA, hasAlertChatB, hasAlertChatC, hasAlertChatD },
    state: stateOf(live),
    evaluatedAt: live?.evaluatedAt?.toISOString() ?? null,
    lastError: live?.past === "failed" ? TOO_EXPENSIVE : (live?.lastError ?? null),
  };
}

function stateOf(live: LiveState | null): LogAlert["state"] {
  if (live === null) return "off";
  if (live.past === "failed" || live.failures >= FAILURES_TO_ERROR) return "error";
  if (live.past === "due") return "starting";
  if (live.isFiring) return "firing";
  return live.isPending ? "pending" : "ok";
}

import type { TransactionSql } from "postgres";
import { FAILURES_TO_ERROR } from "../evaluation/states.ts";
import type { RuleKind } from "./live-store.ts";

/** How a rule is, as its owner sees it. */
interface LiveState {
  readonly state: (typeof LIVE_STATES)[number];
  readonly evaluatedAt: string | null;
  readonly lastError: string | null;
}

export const LIVE_STATES = ["off", "starting", "ok", "pending", "firing", "no_data", "error"] as const;

const OFF: LiveState = { state: "off", evaluatedAt: null, lastError: null };
const TOO_EXPENSIVE =
  "What it counts cannot be counted as entries come: it is too expensive or its condition is refused.";

interface Row {
  readonly ruleId: number;
  readonly isStarting: boolean;
  readonly isRefused: boolean;
  readonly failures: number;
  readonly lastError: string | null;
  readonly evaluatedAt: Date | null;
  readonly isFiring: boolean;
  readonly isPending: boolean;
  readonly isMissing: boolean;
}

/** Of rules of one kind; one that is not live is off. */
export async function liveStates(
  tx: TransactionSql,
  organizationId: number,
  kind: RuleKind,
  ruleIds: readonly number[],
): Promise<(ruleId: number) => LiveState> {
  const rows = await tx<Row[]>`
    SELECT r.rule_id::integer AS "ruleId", r.failures, r.last_error AS "lastError", r.evaluated_at AS "evaluatedAt",
           EXISTS (SELECT 1 FROM live_rule_counters rc JOIN log_counters c ON c.id = rc.counter_id
                   WHERE rc.live_rule_id = r.id AND c.past = 'due') AS "isStarting",
           EXISTS (SELECT 1 FROM live_rule_counters rc JOIN log_counters c ON c.id = rc.counter_id
                   WHERE rc.live_rule_id = r.id AND c.past = 'failed') AS "isRefused",
           EXISTS (SELECT 1 FROM rule_groups g WHERE g.live_rule_id = r.id
                   AND g.state #>> '{state,incident}' IS NOT NULL) AS "isFiring",
           EXISTS (SELECT 1 FROM rule_groups g WHERE g.live_rule_id = r.id
                   AND g.state #>> '{state,kind}' = 'pending') AS "isPending",
           EXISTS (SELECT 1 FROM rule_groups g WHERE g.live_rule_id = r.id
                   AND g.state #>> '{state,kind}' = 'no_data') AS "isMissing"
    FROM live_rules r
    WHERE r.organization_id = ${organizationId} AND r.kind = ${kind}
      AND r.rule_id = ANY(${[...ruleIds]}::bigint[])`;
  const byRule = new Map(rows.map((row) => [row.ruleId, row]));
  return (ruleId) => {
    const row = byRule.get(ruleId);
    return row === undefined ? OFF : stateOf(row);
  };
}

function stateOf(row: Row): LiveState {
  const evaluatedAt = row.evaluatedAt?.toISOString() ?? null;
  if (row.isRefused) return { state: "error", evaluatedAt, lastError: TOO_EXPENSIVE };
  const { failures, isStarting, isFiring, isPending, isMissing, lastError } = row;
  if (failures >= FAILURES_TO_ERROR) return { state: "error", evaluatedAt, lastError };
  const well = isFiring ? "firing" : isMissing ? "no_data" : isPending ? "pending" : "ok";
  return { state: isStarting ? "starting" : well, evaluatedAt, lastError };
}

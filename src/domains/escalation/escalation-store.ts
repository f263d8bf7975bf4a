import type { Fragment, Sql, TransactionSql } from "postgres";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { fromNow } from "../../storage/database-clock.ts";
import type { Escalation, PolicySnapshot } from "./next.ts";
import { EscalationPolicy } from "./types.ts";

/** The queries about escalations under way. The loop looks for what is due everywhere; all others name the organisation first. */

const Snapshot = Type.Pick(EscalationPolicy, ["steps", "repeat"]);

/** An escalation whose next step is due. */
export interface DueEscalation {
  readonly organizationId: number;
  readonly incidentId: number;
  readonly run: number;
}

/** An escalation whose step nobody else takes until the transaction ends. */
export interface LockedEscalation {
  readonly policy: PolicySnapshot;
  readonly escalation: Escalation;
}

/** How an escalation ends: somebody answered, nobody did, or there is nothing to answer any more. */
type Ending = "answered" | "exhausted" | "over";

interface IncidentRow {
  title: string;
  severity: "low" | "medium" | "high" | "critical";
  opened_at: Date;
  acknowledged_at: Date | null;
  resolved_at: Date | null;
  source: { kind: string; id: number; name: string } | null;
  monitor_ids: string[];
}

/** What an escalation needs to know of its incident. */
export interface EscalatedIncident {
  readonly title: string;
  readonly severity: IncidentRow["severity"];
  readonly openedAt: Date;
  /** Somebody answered, or it is over. */
  readonly needsNobody: "answered" | "over" | null;
  readonly source: IncidentRow["source"];
  readonly monitorIds: readonly number[];
}

/** The condition for those whose next step is due. */
export function isDue(sql: Sql): Fragment {
  return sql`state = 'running' AND next_at <= now()`;
}

/** Those that are due, the longest first, of every organisation that is not `busy`. */
export async function dueEscalations(
  sql: Sql,
  { busy, max }: { readonly busy: readonly number[]; readonly max: number },
): Promise<DueEscalation[]> {
  const rows = await sql<{ organization_id: number; incident_id: string; run: number }[]>`
    SELECT organization_id, incident_id, run FROM escalations
    WHERE ${isDue(sql)} AND NOT (organization_id = ANY(${[...busy]}::integer[]))
    ORDER BY next_at LIMIT ${max}`;
  return rows.map(({ organization_id, incident_id, run }) => ({
    organizationId: organization_id,
    incidentId: Number(incident_id),
    run,
  }));
}

/** Begins an escalation, once for each time that its incident is open; false where it had begun before. */
export async function beginEscalation(
  tx: TransactionSql,
  organizationId: number,
  {
    incidentId,
    run,
    policy,
    nextAt,
    nowMs,
  }: {
    incidentId: number;
    run: number;
    policy: PolicySnapshot;
    nextAt: number;
    nowMs: number;
  },
): Promise<boolean> {
  const { count } = await tx`
    INSERT INTO escalations (organization_id, incident_id, run, policy, next_at, created_at)
    VALUES (${organizationId}, ${incidentId}, ${run}, ${tx.json({ steps: policy.steps, repeat: policy.repeat })},
            ${fromNow(tx, nextAt - nowMs)}, ${new Date(nowMs)})
    ON CONFLICT (incident_id, run) DO NOTHING`;
  return count > 0;
}

/** Ends every escalation of an incident that runs. */
export async function endEscalations(
  tx: TransactionSql,
  organizationId: number,
  incidentId: number,
  state: Ending,
): Promise<void> {
  await tx`
    UPDATE escalations SET state = ${state}
    WHERE organization_id = ${organizationId} AND incident_id = ${incidentId} AND state = 'running'`;
}

/** Locks an escalation that is still due; null where another instance has taken its step, or takes it just now. */
export async function lockDue(
  tx: TransactionSql,
  { organizationId, incidentId, run }: DueEscalation,
): Promise<LockedEscalation | null> {
  const [row] = await tx<{ policy: unknown; step: number; cycle: number; next_at: Date }[]>`
    SELECT policy, step, cycle, next_at FROM escalations
    WHERE organization_id = ${organizationId} AND incident_id = ${incidentId} AND run = ${run}
      AND state = 'running' AND next_at <= now()
    FOR UPDATE SKIP LOCKED`;
  if (row === undefined) return null;
  if (!Value.Check(Snapshot, row.policy)) throw new Error("the policy of an escalation has an unknown form");
  const { step, cycle, next_at } = row;
  return { policy: row.policy, escalation: { step, cycle, nextAt: next_at.getTime() } };
}

/**
 * Writes how far a locked escalation has come; without a next step nobody has answered at all. The next step is as long
 * after `nowMs` by the clock of the database, which decides what is due.
 */
export async function saveEscalation(
  tx: TransactionSql,
  { organizationId, incidentId, run }: DueEscalation,
  { step, cycle, nextAt }: Escalation,
  nowMs: number,
): Promise<void> {
  await tx`
    UPDATE escalations
    SET step = ${step}, cycle = ${cycle}, state = ${nextAt === null ? "exhausted" : "running"},
        next_at = ${nextAt === null ? tx`to_timestamp(0)` : fromNow(tx, nextAt - nowMs)}
    WHERE organization_id = ${organizationId} AND incident_id = ${incidentId} AND run = ${run}`;
}

/** Tries a step later that could not be taken, unless somebody else has taken it meanwhile. */
export async function putOff(
  sql: Sql,
  { organizationId, incidentId, run }: DueEscalation,
  delayMs: number,
): Promise<void> {
  await sql`
    UPDATE escalations SET next_at = ${fromNow(sql, delayMs)}
    WHERE organization_id = ${organizationId} AND incident_id = ${incidentId} AND run = ${run} AND state = 'running'
      AND next_at <= now()`;
}

/** The incident, which nobody acknowledges or resolves until the transaction ends; null while somebody does just now. */
export async function lockIncident(
  tx: TransactionSql,
  organizationId: number,
  incidentId: number,
): Promise<EscalatedIncident | null> {
  const [row] = await tx<IncidentRow[]>`
    SELECT title, severity, opened_at, acknowledged_at, resolved_at, source,
           ARRAY(SELECT monitor_id FROM incident_monitors m WHERE m.incident_id = incidents.id)::text[] AS monitor_ids
    FROM incidents WHERE organization_id = ${organizationId} AND id = ${incidentId} FOR UPDATE SKIP LOCKED`;
  if (row === undefined) return null;
  return {
    title: row.title,
    severity: row.severity,
    openedAt: row.opened_at,
    needsNobody: row.resolved_at !== null ? "over" : row.acknowledged_at !== null ? "answered" : null,
    source: row.source,
    monitorIds: row.monitor_ids.map(Number),
  };
}

/** A policy as it is now; null when the organisation has none of that id. */
export async function findPolicy(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<PolicySnapshot | null> {
  const [row] = await tx<{ steps: unknown; repeat: number }[]>`
    SELECT steps, repeat FROM escalation_policies WHERE organization_id = ${organizationId} AND id = ${id}`;
  if (row === undefined) return null;
  if (!Value.Check(Snapshot, row)) throw new Error("a policy has an unknown form");
  return row;
}

/** The policy that counts where none is named. */
export async function defaultPolicyId(tx: TransactionSql, organizationId: number): Promise<number | null> {
  const [row] = await tx<{ escalation_policy_id: string | null }[]>`
    SELECT escalation_policy_id FROM alert_defaults WHERE organization_id = ${organizationId}`;
  return row?.escalation_policy_id == null ? null : Number(row.escalation_policy_id);
}

/** The policy that a monitor names; null where it names none, undefined when the organisation has no such monitor. */
export async function policyOfMonitor(
  tx: TransactionSql,
  organizationId: number,
  monitorId: number,
): Promise<number | null | undefined> {
  const [row] = await tx<{ escalation_policy_id: string | null }[]>`
    SELECT escalation_policy_id FROM monitors WHERE organization_id = ${organizationId} AND id = ${monitorId}`;
  if (row === undefined) return undefined;
  return row.escalation_policy_id === null ? null : Number(row.escalation_policy_id);
}

/** The policy of the escalation that an incident is in, or was in last. */
export async function policyOfIncident(
  tx: TransactionSql,
  organizationId: number,
  incidentId: number,
): Promise<PolicySnapshot | null> {
  const [row] = await tx<{ policy: unknown }[]>`
    SELECT policy FROM escalations WHERE organization_id = ${organizationId} AND incident_id = ${incidentId}
    ORDER BY run DESC LIMIT 1`;
  return row !== undefined && Value.Check(Snapshot, row.policy) ? row.policy : null;
}

import type { TransactionSql } from "postgres";
import { Value } from "typebox/value";
import { ProblemSource, RuleEvidence, type Severity } from "../../problems/events.ts";
import { fromNow } from "../../storage/database-clock.ts";
import { isOfRule } from "./rule-key.ts";
import type { Incident, ListParameters, Resolution, Status } from "./types.ts";

/** The queries about incidents; the organisation comes first in each. */

interface IncidentRow {
  readonly id: string;
  readonly source_key: string | null;
  readonly source: unknown;
  readonly title: string;
  readonly status: Status;
  readonly severity: Severity;
  readonly opened_at: Date;
  readonly acknowledged_at: Date | null;
  readonly acknowledged_by: string | null;
  readonly resolved_at: Date | null;
  readonly resolution: Resolution | null;
  readonly reopened: number;
  readonly reopened_at: Date[];
  readonly flapping: boolean;
  readonly settle_at: Date | null;
  readonly postmortem: string | null;
  readonly escalation_policy_id: string | null;
  readonly silence_id: string | null;
  readonly held_back_at: Date | null;
  readonly evidence: unknown;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly monitor_ids: string[];
}

/** An incident, and what only the server knows of it. */
export interface StoredIncident {
  readonly incident: Incident;
  readonly postmortem: string | null;
  readonly evidence: object | null;
  readonly reopenedAtMs: readonly number[];
  /** Whether it flaps and is said to be over. */
  readonly isSettling: boolean;
  /** Whether nobody was told of it, since too many of its rule opened at once. */
  readonly isHeldBack: boolean;
}

/** What an incident is opened with. */
export interface NewIncident {
  readonly title: string;
  readonly severity: Severity;
  readonly sourceKey: string | null;
  readonly source: ProblemSource | null;
  readonly openedAtMs: number;
  readonly escalationPolicyId: number | null;
  readonly evidence: object | null;
  readonly monitorIds: readonly number[];
  readonly silenceId: number | null;
  /** Nobody is told of it where so many of its rule were opened since then; null where somebody is told in any case. */
  readonly storm: { readonly rule: string; readonly since: Date; readonly incidents: number } | null;
}

/** What may change of an incident; what is absent stays. */
interface IncidentChanges {
  readonly title?: string;
  readonly severity?: Severity;
  readonly source?: ProblemSource;
  readonly status?: Status;
  readonly acknowledgedAt?: Date | null;
  readonly acknowledgedBy?: number | null;
  readonly resolvedAt?: Date | null;
  readonly resolution?: Resolution | null;
  readonly reopened?: number;
  readonly reopenedAt?: readonly Date[];
  readonly flapping?: boolean;
  readonly settleAt?: null;
  readonly postmortem?: string;
  readonly silenceId?: number | null;
  readonly heldBackAt?: null;
  readonly evidence?: object;
}

/** A number that no other advisory lock of two numbers has; the other one stands for the key. */
const LOCK_CLASS = 918_274_103;

/** Lets whatever happens to incidents of one key happen one after the other, until the transaction ends. */
export async function lockKey(tx: TransactionSql, organizationId: number, key: string): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(${LOCK_CLASS}::integer, hashtext(${`${organizationId}:${key}`}))`;
}

/** The incident of a key that is open, else the last one; locked, null without one. The key is locked by the caller. */
export async function lockIncidentOfKey(
  tx: TransactionSql,
  organizationId: number,
  key: string,
): Promise<StoredIncident | null> {
  const [row] = await tx<IncidentRow[]>`
    SELECT ${columns(tx)} FROM incidents
    WHERE organization_id = ${organizationId} AND source_key = ${key}
    ORDER BY (resolved_at IS NULL) DESC, id DESC LIMIT 1 FOR UPDATE`;
  return row === undefined ? null : storedOf(row);
}

/** The key of an incident, which never changes; undefined when the organisation has none of that id. */
export async function findKey(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<string | null | undefined> {
  const [row] = await tx<{ source_key: string | null }[]>`
    SELECT source_key FROM incidents WHERE organization_id = ${organizationId} AND id = ${id}`;
  return row?.source_key;
}

export async function lockIncident(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<StoredIncident | null> {
  const [row] = await tx<IncidentRow[]>`
    SELECT ${columns(tx)} FROM incidents
    WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`;
  return row === undefined ? null : storedOf(row);
}

export async function findIncident(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<StoredIncident | null> {
  const [row] = await tx<IncidentRow[]>`
    SELECT ${columns(tx)} FROM incidents WHERE organization_id = ${organizationId} AND id = ${id}`;
  return row === undefined ? null : storedOf(row);
}

/** Whether another incident of the key is open. */
export async function isKeyOpen(tx: TransactionSql, organizationId: number, key: string): Promise<boolean> {
  const rows = await tx`
    SELECT 1 FROM incidents
    WHERE organization_id = ${organizationId} AND source_key = ${key} AND resolved_at IS NULL`;
  return rows.length > 0;
}

export async function listIncidents(
  tx: TransactionSql,
  organizationId: number,
  { status, limit, offset }: { status: ListParameters["status"]; limit: number; offset: number },
): Promise<{ items: Incident[]; total: number }> {
  const isWanted =
    status === undefined ? tx`TRUE` : status === "open" ? tx`resolved_at IS NULL` : tx`status = ${status}`;
  const rows = await tx<IncidentRow[]>`
    SELECT ${columns(tx)} FROM incidents WHERE organization_id = ${organizationId} AND ${isWanted}
    ORDER BY opened_at DESC, id DESC LIMIT ${limit} OFFSET ${offset}`;
  const [counted] = await tx<{ total: string }[]>`
    SELECT count(*) AS total FROM incidents WHERE organization_id = ${organizationId} AND ${isWanted}`;
  return { items: rows.map((row) => storedOf(row).incident), total: Number(counted?.total ?? 0) };
}

export async function insertIncident(
  tx: TransactionSql,
  organizationId: number,
  fields: NewIncident,
  nowMs: number,
): Promise<StoredIncident> {
  const { title, severity, sourceKey, source, openedAtMs } = fields;
  const { escalationPolicyId, evidence, monitorIds, silenceId, storm } = fields;
  const now = new Date(nowMs);
  const isHeldBack =
    storm === null
      ? tx`false`
      : tx`(SELECT count(*) FROM incidents WHERE organization_id = ${organizationId} AND created_at > ${storm.since}
              AND ${isOfRule(tx, storm.rule)}) >= ${storm.incidents}`;
  const [made] = await tx<{ id: string }[]>`
    INSERT INTO incidents (organization_id, source_key, source, title, status, severity, opened_at,
                           escalation_policy_id, evidence, silence_id, held_back_at, created_at, updated_at)
    VALUES (${organizationId}, ${sourceKey}, ${jsonOf(source)}::text::jsonb, ${title}, 'investigating', ${severity},
            ${new Date(openedAtMs)},
            -- One that was deleted since it was named is none; the incident is opened all the same.
            (SELECT id FROM escalation_policies
             WHERE organization_id = ${organizationId} AND id = ${escalationPolicyId} FOR KEY SHARE),
            ${jsonOf(evidence)}::text::jsonb, ${silenceId},
            CASE WHEN ${isHeldBack} THEN ${now}::timestamptz END, ${now}, ${now})
    RETURNING id`;
  const id = Number(made?.id);
  await addMonitors(tx, organizationId, id, monitorIds);
  return requireIncident(await findIncident(tx, organizationId, id));
}

/** Names further monitors of an incident. */
export async function addMonitors(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  monitorIds: readonly number[],
): Promise<void> {
  if (monitorIds.length === 0) return;
  await tx`
    INSERT INTO incident_monitors (organization_id, incident_id, monitor_id)
    SELECT ${organizationId}, ${id}, unnest(${[...monitorIds]}::bigint[]) ON CONFLICT DO NOTHING`;
}

/** Sets the fields that are given; the row is locked by the caller. */
export async function updateIncident(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  changes: IncidentChanges,
  nowMs: number,
): Promise<StoredIncident> {
  const { source, evidence, reopenedAt, ...plain } = changes;
  const times = reopenedAt?.map((at) => at.toISOString());
  const values = {
    ...Object.fromEntries(Object.entries(plain).map(([name, value]) => [columnOf(name), value])),
    updated_at: new Date(nowMs),
  };
  await tx`
    UPDATE incidents SET ${tx(values)}
      ${times === undefined ? tx`` : tx`, reopened_at = ${times}::text[]::timestamptz[]`}
      ${source === undefined ? tx`` : tx`, source = ${jsonOf(source)}::text::jsonb`}
      ${evidence === undefined ? tx`` : tx`, evidence = ${jsonOf(evidence)}::text::jsonb`}
    WHERE organization_id = ${organizationId} AND id = ${id}`;
  return requireIncident(await findIncident(tx, organizationId, id));
}

/** Has an incident that flaps end when it has been well for so long, by the clock that all instances share. */
export async function settleAfter(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  ms: number,
): Promise<void> {
  await tx`
    UPDATE incidents SET settle_at = ${fromNow(tx, ms)} WHERE organization_id = ${organizationId} AND id = ${id}`;
}

function columns(tx: TransactionSql): ReturnType<TransactionSql> {
  return tx`
    id, source_key, source, title, status, severity, opened_at, acknowledged_at, acknowledged_by, resolved_at,
    resolution, reopened, reopened_at, flapping, settle_at, postmortem, escalation_policy_id, silence_id, held_back_at, evidence, created_at,
    updated_at, ARRAY(SELECT monitor_id FROM incident_monitors
                      WHERE incident_id = incidents.id AND incident_monitors.organization_id = incidents.organization_id
                      ORDER BY monitor_id) AS monitor_ids`;
}

function storedOf(row: IncidentRow): StoredIncident {
  return {
    incident: {
      id: Number(row.id),
      title: row.title,
      status: row.status,
      severity: row.severity,
      monitorIds: row.monitor_ids.map(Number),
      source: Value.Check(ProblemSource, row.source) ? row.source : null,
      sourceKey: row.source_key,
      openedAt: row.opened_at.toISOString(),
      acknowledgedAt: row.acknowledged_at?.toISOString() ?? null,
      acknowledgedBy: numberOrNull(row.acknowledged_by),
      resolvedAt: row.resolved_at?.toISOString() ?? null,
      resolution: row.resolution,
      reopened: row.reopened,
      flapping: row.flapping,
      escalationPolicyId: numberOrNull(row.escalation_policy_id),
      silenceId: numberOrNull(row.silence_id),
      createdAt: row.created_at.toISOString(),
      updatedAt: row.updated_at.toISOString(),
      ...ofRule(row.evidence),
    },
    postmortem: row.postmortem,
    evidence: typeof row.evidence === "object" ? row.evidence : null,
    reopenedAtMs: row.reopened_at.map((at) => at.getTime()),
    isSettling: row.settle_at !== null,
    isHeldBack: row.held_back_at !== null,
  };
}

/** What is said of a rule's incident besides; nothing of any other. */
function ofRule(evidence: unknown): Partial<Incident> {
  if (!Value.Check(RuleEvidence, evidence)) return {};
  const { ruleId, ruleKind, groupKey, attackTechnique, detectionId } = evidence;
  return { ruleId, ruleKind, groupKey, attackTechnique, ...(detectionId !== undefined && { detectionId }) };
}

function requireIncident(found: StoredIncident | null): StoredIncident {
  if (found === null) throw new Error("an incident that was just written is gone");
  return found;
}

function columnOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function jsonOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function numberOrNull(id: string | null): number | null {
  return id === null ? null : Number(id);
}

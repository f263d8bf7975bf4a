import type { TransactionSql } from "postgres";
import type { ProblemSource } from "./events.ts";

/** What an incident has to be of for a silence to hold for it: all that is given, and at least one thing is. */
interface Silence {
  readonly id: number;
  readonly source: string | null;
  readonly ruleKind: string | null;
  readonly ruleId: number | null;
  readonly monitorId: number | null;
  readonly groupKey: unknown;
}

/** What an incident is of, as far as silences look at it. */
interface Silenced {
  readonly source: ProblemSource | null;
  readonly monitorIds: readonly number[];
  /** What the rule said that found it; null where none did. */
  readonly evidence: object | null;
}

/** The silence that holds for an incident at a moment; null for none. Of several the one that lasts longest. */
export async function findSilence(
  tx: TransactionSql,
  organizationId: number,
  incident: Silenced,
  nowMs: number,
): Promise<number | null> {
  const now = new Date(nowMs);
  const silences = await tx<Silence[]>`
    SELECT id::integer, source, rule_kind AS "ruleKind", rule_id::float8 AS "ruleId", monitor_id::float8 AS "monitorId",
           group_key AS "groupKey"
    FROM silences
    WHERE organization_id = ${organizationId} AND starts_at <= ${now} AND ends_at > ${now}
    ORDER BY ends_at DESC, id`;
  return silences.find((silence) => holdsFor(silence, incident))?.id ?? null;
}

function holdsFor(silence: Silence, { source, monitorIds, evidence }: Silenced): boolean {
  const ruleKind = evidence !== null && "ruleKind" in evidence ? evidence.ruleKind : null;
  const group = evidence !== null && "groupKey" in evidence ? evidence.groupKey : null;
  const { ruleId, monitorId, groupKey } = silence;
  return (
    (silence.source === null || silence.source === source?.kind) &&
    (silence.ruleKind === null || silence.ruleKind === ruleKind) &&
    (ruleId === null || (source?.kind === "rule" && source.id === ruleId)) &&
    (monitorId === null || monitorIds.includes(monitorId)) &&
    (groupKey === null || hasAll(group, groupKey))
  );
}

function hasAll(group: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null) return false;
  const values = new Map(Object.entries(typeof group === "object" && group !== null ? group : {}));
  return Object.entries(wanted).every(([field, value]) => values.get(field) === value);
}

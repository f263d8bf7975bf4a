import type { TransactionSql } from "postgres";
import {
  CASE_EVIDENCE_MAX,
  CASE_INCIDENTS_MAX,
  CASE_NOTES_MAX,
  CASE_OBSERVABLES_MAX,
  SIMILAR_MAX,
} from "./limits.ts";
import type { CaseDetails, CaseEvidence, CaseNote, Observable } from "./types.ts";

/** The queries about what cases are made of; the organisation comes first in each. */

/** An incident of a case, as a timeline tells of it. */
export interface AttachedIncident {
  readonly id: number;
  readonly title: string;
  readonly openedAt: Date;
  readonly addedAt: Date;
}

/** By the ids of cases. */
export async function incidentIdsOf(
  tx: TransactionSql,
  organizationId: number,
  caseIds: readonly number[],
): Promise<ReadonlyMap<number, number[]>> {
  const rows = await tx<{ caseId: number; incidentId: number }[]>`
    SELECT case_id::integer AS "caseId", incident_id::integer AS "incidentId" FROM case_incidents
    WHERE organization_id = ${organizationId} AND case_id = ANY(${[...caseIds]}::bigint[]) ORDER BY added_at, incident_id`;
  const of = new Map<number, number[]>();
  for (const { caseId, incidentId } of rows) of.set(caseId, [...(of.get(caseId) ?? []), incidentId]);
  return of;
}

export async function attachedIncidents(
  tx: TransactionSql,
  organizationId: number,
  caseId: number,
): Promise<readonly AttachedIncident[]> {
  return tx<AttachedIncident[]>`
    SELECT i.id::integer, i.title, i.opened_at AS "openedAt", c.added_at AS "addedAt"
    FROM case_incidents c JOIN incidents i ON i.id = c.incident_id
    WHERE c.organization_id = ${organizationId} AND c.case_id = ${caseId} ORDER BY c.added_at, i.id`;
}

/** Which of some incidents the organisation has. */
export async function knownIncidents(
  tx: TransactionSql,
  organizationId: number,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await tx<{ id: number }[]>`
    SELECT id::integer FROM incidents
    WHERE organization_id = ${organizationId} AND id = ANY(${[...ids]}::bigint[]) FOR KEY SHARE`;
  return new Set(rows.map(({ id }) => id));
}

/** Those that belong to the case already stay as they are. */
export async function attachIncidents(
  tx: TransactionSql,
  organizationId: number,
  caseId: number,
  ids: readonly number[],
  nowMs: number,
): Promise<void> {
  await tx`
    INSERT INTO case_incidents (case_id, organization_id, incident_id, added_at)
    SELECT ${caseId}, ${organizationId}, id, ${new Date(nowMs)} FROM unnest(${[...ids]}::bigint[]) AS id
    ON CONFLICT DO NOTHING`;
}

/** The incidents of a case are these from now on. */
export async function replaceIncidents(
  tx: TransactionSql,
  organizationId: number,
  caseId: number,
  ids: readonly number[],
  nowMs: number,
): Promise<void> {
  await tx`
    DELETE FROM case_incidents
    WHERE organization_id = ${organizationId} AND case_id = ${caseId} AND incident_id <> ALL(${[...ids]}::bigint[])`;
  await attachIncidents(tx, organizationId, caseId, ids, nowMs);
}

/** False when the case has as many as it may. */
export async function insertNote(
  tx: TransactionSql,
  organizationId: number,
  caseId: number,
  note: { readonly kind: CaseNote["kind"]; readonly body: string; readonly userId: number | null },
  nowMs: number,
): Promise<boolean> {
  const { count } = await tx`
    INSERT INTO case_notes (case_id, organization_id, kind, body, user_id, created_at)
    SELECT ${caseId}, ${organizationId}, ${note.kind}, ${note.body}, ${note.userId}, ${new Date(nowMs)}
    WHERE (SELECT count(*) FROM case_notes
           WHERE organization_id = ${organizationId} AND case_id = ${caseId} AND kind = ${note.kind}) < ${CASE_NOTES_MAX}`;
  return count > 0;
}

export async function readNotes(
  tx: TransactionSql,
  organizationId: number,
  caseId: number,
): Promise<CaseNote[]> {
  const rows = await tx<(Omit<CaseNote, "createdAt"> & { createdAt: Date })[]>`
    SELECT id::integer, kind, body, user_id AS "userId", created_at AS "createdAt" FROM case_notes
    WHERE organization_id = ${organizationId} AND case_id = ${caseId} ORDER BY id`;
  return rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }));
}

interface NewEvidence {
  readonly kind: CaseEvidence["kind"];
  readonly ref: string;
  readonly snapshot: object | null;
  readonly eventAt: Date | null;
  readonly userId: number | null;
}

/** The same piece again changes nothing; false when the case has as many as it may. */
export async function insertEvidence(
  tx: TransactionSql,
  organizationId: number,
  caseId: number,
  { kind, ref, snapshot, eventAt, userId }: NewEvidence,
  nowMs: number,
): Promise<boolean> {
  const [counted] = await tx<{ n: number; isThere: boolean | null }[]>`
    SELECT count(*)::integer AS n, bool_or(kind = ${kind} AND ref = ${ref}) AS "isThere"
    FROM case_evidence WHERE organization_id = ${organizationId} AND case_id = ${caseId}`;
  if (counted?.isThere === true) return true;
  if ((counted?.n ?? 0) >= CASE_EVIDENCE_MAX) return false;
  await tx`
    INSERT INTO case_evidence (case_id, organization_id, kind, ref, snapshot, event_at, user_id, created_at)
    VALUES (${caseId}, ${organizationId}, ${kind}, ${ref},
            ${snapshot === null ? null : JSON.stringify(snapshot)}::text::jsonb, ${eventAt}, ${userId},
            ${new Date(nowMs)})
    ON CONFLICT (case_id, kind, ref) DO NOTHING`;
  return true;
}

export async function readEvidence(
  tx: TransactionSql,
  organizationId: number,
  caseId: number,
): Promise<CaseEvidence[]> {
  const rows = await tx<
    (Omit<CaseEvidence, "createdAt" | "eventAt"> & { createdAt: Date; eventAt: Date | null })[]
  >`
    SELECT id::integer, kind, ref, snapshot, event_at AS "eventAt", user_id AS "userId", created_at AS "createdAt"
    FROM case_evidence WHERE organization_id = ${organizationId} AND case_id = ${caseId} ORDER BY id`;
  return rows.map((row) => ({
    ...row,
    eventAt: row.eventAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
  }));
}

export async function insertObservables(
  tx: TransactionSql,
  organizationId: number,
  caseId: number,
  observables: readonly Observable[],
): Promise<void> {
  await tx`
    INSERT INTO case_observables (case_id, organization_id, type, value)
    SELECT ${caseId}, ${organizationId}, type, value
    FROM unnest(${observables.map(({ type }) => type)}::text[], ${observables.map(({ value }) => value)}::text[])
      AS given (type, value)
    LIMIT greatest(0, ${CASE_OBSERVABLES_MAX} - (SELECT count(*) FROM case_observables WHERE case_id = ${caseId}))
    ON CONFLICT DO NOTHING`;
}

export async function readObservables(
  tx: TransactionSql,
  organizationId: number,
  caseId: number,
): Promise<Observable[]> {
  return tx<Observable[]>`
    SELECT type, value FROM case_observables
    WHERE organization_id = ${organizationId} AND case_id = ${caseId} ORDER BY type, value`;
}

/** Other cases that name the same things; what is let pass, or lies in it, makes none similar: one's own collector is named by many. */
export async function similarCases(
  tx: TransactionSql,
  organizationId: number,
  caseId: number,
): Promise<CaseDetails["similarCases"]> {
  return tx<CaseDetails["similarCases"][number][]>`
    SELECT c.id::integer, c.title, c.status, count(*)::integer AS shared
    FROM case_observables own
    JOIN case_observables other
      ON other.organization_id = own.organization_id AND other.type = own.type AND other.value = own.value
     AND other.case_id <> own.case_id
    JOIN cases c ON c.id = other.case_id AND c.merged_into IS NULL
    WHERE own.organization_id = ${organizationId} AND own.case_id = ${caseId}
      AND NOT EXISTS (
        SELECT 1 FROM ioc_allow_list a
        WHERE a.organization_id = own.organization_id AND a.type = own.type
          AND CASE a.type WHEN 'ip' THEN own.value::inet <<= a.value::inet
                          WHEN 'domain' THEN own.value = a.value OR right(own.value, length(a.value) + 1) = '.' || a.value
                          ELSE own.value = a.value END)
    GROUP BY c.id ORDER BY shared DESC, c.id DESC LIMIT ${SIMILAR_MAX}`;
}

/** Everything of a case but its own fields goes on in another one; false where that would have more than it may. */
export async function moveParts(
  tx: TransactionSql,
  organizationId: number,
  from: number,
  into: number,
): Promise<boolean> {
  await tx`
    INSERT INTO case_incidents (case_id, organization_id, incident_id, added_at)
    SELECT ${into}, organization_id, incident_id, added_at FROM case_incidents
    WHERE organization_id = ${organizationId} AND case_id = ${from} ON CONFLICT DO NOTHING`;
  await tx`
    INSERT INTO case_evidence (case_id, organization_id, kind, ref, snapshot, event_at, user_id, created_at)
    SELECT ${into}, organization_id, kind, ref, snapshot, event_at, user_id, created_at FROM case_evidence
    WHERE organization_id = ${organizationId} AND case_id = ${from} ON CONFLICT DO NOTHING`;
  await tx`
    INSERT INTO case_observables (case_id, organization_id, type, value)
    SELECT ${into}, organization_id, type, value FROM case_observables
    WHERE organization_id = ${organizationId} AND case_id = ${from} ON CONFLICT DO NOTHING`;
  await tx`
    UPDATE case_notes SET case_id = ${into}
    WHERE organization_id = ${organizationId} AND case_id = ${from} AND kind = 'note'`;
  const [counted] = await tx<{ incidents: number; notes: number; evidence: number; observables: number }[]>`
    SELECT (SELECT count(*) FROM case_incidents WHERE organization_id = ${organizationId} AND case_id = ${into})::integer AS incidents,
           (SELECT count(*) FROM case_notes
            WHERE organization_id = ${organizationId} AND case_id = ${into} AND kind = 'note')::integer AS notes,
           (SELECT count(*) FROM case_evidence WHERE organization_id = ${organizationId} AND case_id = ${into})::integer AS evidence,
           (SELECT count(*) FROM case_observables WHERE organization_id = ${organizationId} AND case_id = ${into})::integer AS observables`;
  const { incidents = 0, notes = 0, evidence = 0, observables = 0 } = counted ?? {};
  return (
    incidents <= CASE_INCIDENTS_MAX &&
    notes <= CASE_NOTES_MAX &&
    evidence <= CASE_EVIDENCE_MAX &&
    observables <= CASE_OBSERVABLES_MAX
  );
}

/** A detection as a copy of it stands in a case; null for none of that id. */
export async function findDetection(
  tx: TransactionSql,
  organizationId: number,
  id: string,
): Promise<{ readonly snapshot: object; readonly eventAt: Date } | null> {
  const [row] = await tx<{ snapshot: object; eventAt: Date }[]>`
    SELECT to_jsonb(d) - 'organization_id' AS snapshot, started_at AS "eventAt" FROM detections d
    WHERE organization_id = ${organizationId} AND id::text = ${id}`;
  return row ?? null;
}

import type { Sql, TransactionSql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { removeRecordEntity } from "../../entities/entity-store.ts";
import { ApiError } from "../../errors.ts";
import type { Paged, PageStart } from "../../http/record-page.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { RecordTable } from "../../storage/record-table.ts";
import { type Copy, detectionCopy } from "./evidence.ts";
import { CASE_EVIDENCE_MAX, CASE_INCIDENTS_MAX, CASE_NOTES_MAX, CASES_MAX } from "./limits.ts";
import { observablesIn, textsOf } from "./observables.ts";
import { invalid } from "./refusals.ts";
import {
  attachedIncidents,
  attachIncidents,
  incidentIdsOf,
  insertEvidence,
  insertNote,
  insertObservables,
  knownIncidents,
  moveParts,
  readEvidence,
  readNotes,
  readObservables,
  replaceIncidents,
  similarCases,
} from "./store.ts";
import { timelineOf } from "./timeline.ts";
import {
  type Case,
  type CaseDetails,
  type CreateCaseBody,
  type EvidenceBody,
  type ListCasesParameters,
  StoredCase,
  type UpdateCaseBody,
} from "./types.ts";

/** What other parts of the server know. */
export interface CasePorts {
  /** Which of some people belong to the organisation; they stay members until the transaction ends. */
  readonly lockMembers: (
    tx: TransactionSql,
    organizationId: number,
    userIds: readonly number[],
  ) => Promise<ReadonlySet<number>>;
}

type Written = Partial<Omit<StoredCase, "id" | "createdAt" | "updatedAt">>;

/** The cases of organisations, and what belongs to them. */
export class Cases {
  readonly #sql: Sql;
  readonly #ports: CasePorts;
  readonly #records = new Records<typeof StoredCase, Written, Written>({
    noun: "case",
    table: "cases",
    schema: StoredCase,
    maxPerOrganization: CASES_MAX,
  });

  readonly #table = new RecordTable("cases", StoredCase);

  constructor(sql: Sql, ports: CasePorts) {
    this.#sql = sql;
    this.#ports = ports;
  }

  /** Newest first. */
  async page(
    organizationId: number,
    { beforeId, limit }: PageStart,
    { status, assignee, incident }: ListCasesParameters,
  ): Promise<Paged<Case>> {
    return this.#ask(organizationId, async (tx) => {
      const condition = tx`
        ${beforeId === null ? tx`true` : tx`id < ${beforeId}`}
        AND ${status === undefined ? tx`true` : status === "active" ? tx`status <> 'closed'` : tx`status = ${status}`}
        AND ${assignee === undefined ? tx`true` : tx`assignee_user_id = ${assignee}::bigint`}
        AND ${
          incident === undefined
            ? tx`true`
            : tx`id IN (SELECT case_id FROM case_incidents
                         WHERE organization_id = ${organizationId} AND incident_id = ${incident}::bigint)`
        }`;
      const found = await this.#table.newest(tx, organizationId, { limit: limit + 1, condition });
      const stored = found.slice(0, limit);
      const ids = stored.map(({ id }) => id);
      const incidents = await incidentIdsOf(tx, organizationId, ids);
      const items = stored.map((one) => shown(one, incidents.get(one.id) ?? []));
      return { items, hasMore: found.length > limit };
    });
  }

  /** Throws NOT_FOUND. */
  async read(organizationId: number, id: number): Promise<CaseDetails> {
    const stored = await this.#records.read(this.#sql, organizationId, id);
    return this.#ask(organizationId, (tx) => detailsOf(tx, organizationId, stored));
  }

  /** Throws VALIDATION_FAILED for people and incidents of others, CONFLICT for one too many. */
  async create(change: Change, body: CreateCaseBody): Promise<CaseDetails> {
    const { title, severity = "medium", summary = null, assigneeUserId = null, incidentIds = [] } = body;
    await this.#requireMember(change, assigneeUserId);
    await requireIncidents(change, incidentIds, "/incidentIds");
    const stored = await this.#records.create(change, {
      ...{ title, severity, summary, assigneeUserId, status: "open" },
    });
    const { tx, organizationId, nowMs } = change;
    await attachIncidents(tx, organizationId, stored.id, incidentIds, nowMs);
    return detailsOf(tx, organizationId, stored);
  }

  /** Throws NOT_FOUND, VALIDATION_FAILED, and CONFLICT for a case that goes on in another one. */
  async update(change: Change, id: number, body: UpdateCaseBody): Promise<CaseDetails> {
    const { tx, organizationId, nowMs } = change;
    const { incidentIds, ...fields } = body;
    const before = await this.#lock(change, id);
    await this.#requireMember(change, fields.assigneeUserId ?? null);
    if (incidentIds !== undefined) await requireIncidents(change, incidentIds, "/incidentIds");
    const after = await this.#records.update(change, id, {
      ...fields,
      ...clocksOf(before, fields.status, nowMs),
    });
    for (const name of ["status", "disposition", "severity", "assigneeUserId"] as const)
      if (before[name] !== after[name])
        await this.#note(
          change,
          id,
          `${name}: ${before[name] ?? "none"} → ${after[name] ?? "none"}`,
          "change",
        );
    if (incidentIds !== undefined) await replaceIncidents(tx, organizationId, id, incidentIds, nowMs);
    return detailsOf(tx, organizationId, after);
  }

  /** Throws NOT_FOUND, VALIDATION_FAILED, CONFLICT. */
  async attach(change: Change, id: number, incidentId: number): Promise<CaseDetails> {
    const { tx, organizationId, nowMs } = change;
    const stored = await this.#lock(change, id);
    await requireIncidents(change, [incidentId], "/incidentId");
    const attached = (await incidentIdsOf(tx, organizationId, [id])).get(id) ?? [];
    if (!attached.includes(incidentId) && attached.length >= CASE_INCIDENTS_MAX)
      throw new ApiError("CONFLICT", `A case has at most ${CASE_INCIDENTS_MAX} incidents.`);
    await attachIncidents(tx, organizationId, id, [incidentId], nowMs);
    change.record({ resource: `case:${id}`, after: { incidentId } });
    return detailsOf(tx, organizationId, stored);
  }

  /** Throws NOT_FOUND, CONFLICT. */
  async addNote(change: Change, id: number, body: string): Promise<CaseDetails> {
    const stored = await this.#lock(change, id);
    await this.#note(change, id, body, "note");
    change.record({ resource: `case:${id}`, after: { note: body } });
    return detailsOf(change.tx, change.organizationId, stored);
  }

  /** Copies what proves something. Throws NOT_FOUND for a case, VALIDATION_FAILED for evidence that there is not, CONFLICT. */
  async addEvidence(
    change: Change,
    id: number,
    { kind, ref }: EvidenceBody,
    copy: Copy,
  ): Promise<CaseDetails> {
    const { tx, organizationId, nowMs } = change;
    const stored = await this.#lock(change, id);
    const found = kind === "detection" ? await detectionCopy(tx, organizationId, ref) : copy;
    const piece = { kind, ref, ...found, userId: userOf(change) };
    if (!(await insertEvidence(tx, organizationId, id, piece, nowMs)))
      throw new ApiError("CONFLICT", `A case has at most ${CASE_EVIDENCE_MAX} pieces of evidence.`);
    const text = kind === "text" ? ref : textsOf(found.snapshot);
    await insertObservables(tx, organizationId, id, observablesIn(text));
    change.record({ resource: `case:${id}`, after: { evidence: { kind, ref } } });
    return detailsOf(tx, organizationId, stored);
  }

  /** Closes a case as a duplicate: another one goes on with what belongs to it. Throws NOT_FOUND, VALIDATION_FAILED, CONFLICT. */
  async merge(change: Change, id: number, into: number): Promise<CaseDetails> {
    const { tx, organizationId, nowMs } = change;
    if (id === into) throw invalid("/into", "a case cannot be merged with itself");
    if ((await this.#table.find(tx, organizationId, id)) === null)
      throw new ApiError("NOT_FOUND", "No such case.");
    // In one order, whoever merges what with what.
    const locked = new Map<number, StoredCase>();
    for (const one of [id, into].toSorted((left, right) => left - right))
      locked.set(one, await this.#lock(change, one, one === into ? "/into" : null));
    const target = locked.get(into);
    if (target === undefined) throw new Error("a case was lost");
    if (!(await moveParts(tx, organizationId, id, into)))
      throw new ApiError("CONFLICT", "Together they would have more than a case may have.");
    await this.#note(change, into, `Case ${id} was merged into this one.`, "change");
    await this.#note(change, id, `The case goes on as case ${into}.`, "change");
    const at = new Date(nowMs).toISOString();
    await this.#records.update(change, id, {
      ...{ status: "closed", disposition: "duplicate", mergedInto: into, closedAt: at },
    });
    return detailsOf(tx, organizationId, target);
  }

  /** With all that belongs to it; what was merged into it stands by itself again. Throws NOT_FOUND. */
  async remove(change: Change, id: number): Promise<void> {
    await this.#records.remove(change, id);
    await removeRecordEntity(change.tx, change.organizationId, "case", id);
  }

  async #note(change: Change, id: number, body: string, kind: "note" | "change"): Promise<void> {
    const { tx, organizationId, nowMs } = change;
    if (await insertNote(tx, organizationId, id, { kind, body, userId: userOf(change) }, nowMs)) return;
    if (kind === "note") throw new ApiError("CONFLICT", `A case has at most ${CASE_NOTES_MAX} notes.`);
  }

  /** The case, which nobody else changes until the change ends. */
  async #lock({ tx, organizationId }: Change, id: number, path: string | null = null): Promise<StoredCase> {
    const stored = await this.#table.lock(tx, organizationId, id);
    if (stored === null) {
      if (path !== null) throw invalid(path, "is no case of yours");
      throw new ApiError("NOT_FOUND", "No such case.");
    }
    if (stored.mergedInto !== null)
      throw new ApiError("CONFLICT", `The case goes on as case ${stored.mergedInto}.`);
    return stored;
  }

  async #requireMember({ tx, organizationId }: Change, userId: number | null): Promise<void> {
    if (userId === null || (await this.#ports.lockMembers(tx, organizationId, [userId])).has(userId)) return;
    throw invalid("/assigneeUserId", "is nobody of your organisation");
  }

  #ask<T>(organizationId: number, read: (tx: TransactionSql) => Promise<T>): Promise<T> {
    return askPostgres(() => inOrganization(this.#sql, organizationId, read));
  }
}

async function requireIncidents(
  { tx, organizationId }: Change,
  ids: readonly number[],
  path: "/incidentIds" | "/incidentId",
): Promise<void> {
  const known = await knownIncidents(tx, organizationId, ids);
  const unknown = ids.findIndex((id) => !known.has(id));
  if (unknown !== -1)
    throw invalid(path === "/incidentIds" ? `${path}/${unknown}` : path, "is no incident of yours");
}

/** When a case was first contained and when it was closed; one that is opened again has been neither. */
function clocksOf(before: StoredCase, status: StoredCase["status"] | undefined, nowMs: number): Written {
  if (status === undefined || status === before.status) return {};
  const now = new Date(nowMs).toISOString();
  if (status === "closed") return { containedAt: before.containedAt ?? now, closedAt: now };
  return { containedAt: status === "contained" ? (before.containedAt ?? now) : null, closedAt: null };
}

function userOf({ actor }: Change): number | null {
  return "userId" in actor ? actor.userId : null;
}

function shown(stored: StoredCase, incidentIds: readonly number[]): Case {
  const since = (at: string | null): number | null =>
    at === null ? null : Math.max(0, Date.parse(at) - Date.parse(stored.createdAt)) / 1000;
  return {
    ...stored,
    incidentIds: [...incidentIds],
    timeToContainSec: since(stored.containedAt),
    timeToCloseSec: since(stored.closedAt),
  };
}

async function detailsOf(
  tx: TransactionSql,
  organizationId: number,
  stored: StoredCase,
): Promise<CaseDetails> {
  const { id } = stored;
  const incidents = await attachedIncidents(tx, organizationId, id);
  const notes = await readNotes(tx, organizationId, id);
  const evidence = await readEvidence(tx, organizationId, id);
  return {
    ...shown(
      stored,
      incidents.map(({ id: incidentId }) => incidentId),
    ),
    notes,
    evidence,
    observables: await readObservables(tx, organizationId, id),
    similarCases: [...(await similarCases(tx, organizationId, id))],
    timeline: timelineOf(stored, { notes, evidence, incidents }),
  };
}

import type { Sql, TransactionSql } from "postgres";
import { personOf } from "../../changes/actor.ts";
import type { Change } from "../../changes/change.ts";
import { ApiError, type FieldIssue, validationFailed } from "../../errors.ts";
import { type KnowsPolicy, UNKNOWN_POLICY } from "../../problems/known-policy.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { incidentAcknowledged, incidentOpened, incidentReopened, incidentUpdated } from "./events.ts";
import { LIST_DEFAULT_ROWS, LIST_MAX_OFFSET, LIST_MAX_ROWS, TIMELINE_MAX_ROWS } from "./limits.ts";
import { unknownMonitors } from "./monitor-store.ts";
import {
  findIncident,
  findKey,
  insertIncident,
  isKeyOpen,
  listIncidents,
  lockIncident,
  lockKey,
  type StoredIncident,
  updateIncident,
} from "./store.ts";
import { endIncident, note, tell } from "./timeline.ts";
import type {
  IncidentDetails,
  IncidentList,
  ListParameters,
  OpenIncidentBody,
  UpdateIncidentBody,
} from "./types.ts";
import { countUpdates, listUpdates } from "./update-store.ts";

/** Throws VALIDATION_FAILED for numbers that are none of a page. */
export async function readIncidents(
  sql: Sql,
  organizationId: number,
  { status, limit, offset }: ListParameters,
): Promise<IncidentList> {
  const page = { limit: Number(limit ?? LIST_DEFAULT_ROWS), offset: Number(offset ?? 0) };
  const issues: FieldIssue[] = [];
  if (page.limit < 1) issues.push({ path: "/limit", code: "too_small", message: "must be 1 or more" });
  if (page.limit > LIST_MAX_ROWS)
    issues.push({ path: "/limit", code: "too_big", message: `must be ${LIST_MAX_ROWS} or less` });
  if (page.offset > LIST_MAX_OFFSET)
    issues.push({ path: "/offset", code: "too_big", message: `must be ${LIST_MAX_OFFSET} or less` });
  if (issues.length > 0) throw validationFailed(issues);
  return askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => listIncidents(tx, organizationId, { status, ...page })),
  );
}

/** Throws NOT_FOUND. */
export function readIncident(sql: Sql, organizationId: number, id: number): Promise<IncidentDetails> {
  return askPostgres(() =>
    inOrganization(sql, organizationId, async (tx) => {
      const found = await findIncident(tx, organizationId, id);
      if (found === null) throw noSuchIncident();
      return detailsOf(tx, organizationId, found);
    }),
  );
}

/** Opens an incident by hand. Throws VALIDATION_FAILED for monitors and a policy that the organisation has not. */
export async function openIncident(
  change: Change,
  body: OpenIncidentBody,
  knowsPolicy: KnowsPolicy,
): Promise<IncidentDetails> {
  const { tx, organizationId, nowMs } = change;
  const monitorIds = [...new Set(body.monitorIds)];
  const unknown = await unknownMonitors(tx, organizationId, monitorIds);
  const issues: FieldIssue[] = (body.monitorIds ?? []).flatMap((id, at) =>
    unknown.has(id) ? [{ path: `/monitorIds/${at}`, code: "custom", message: "is no monitor of yours" }] : [],
  );
  const escalationPolicyId = body.escalationPolicyId ?? null;
  if (escalationPolicyId !== null && !(await knowsPolicy(tx, organizationId, escalationPolicyId)))
    issues.push(UNKNOWN_POLICY);
  if (issues.length > 0) throw validationFailed(issues);
  const made = await insertIncident(
    tx,
    organizationId,
    {
      title: body.title,
      severity: body.severity ?? "medium",
      sourceKey: null,
      source: null,
      openedAtMs: nowMs,
      escalationPolicyId,
      evidence: null,
      silenceId: null,
      storm: null,
      monitorIds,
    },
    nowMs,
  );
  const isPublic = body.body !== undefined;
  const update = await note(change, made, { kind: "opened", body: body.body ?? "Opened by hand.", isPublic });
  change.record({ resource: resourceOf(made), after: made.incident });
  tell(change, incidentOpened, made, { update, notify: true });
  return detailsOf(tx, organizationId, made);
}

/**
 * Writes into the timeline and moves the status, also backwards. Throws NOT_FOUND, and CONFLICT where the incident is
 * resolved and another one of its key is open, or where the timeline is full.
 */
export async function addUpdate(
  change: Change,
  id: number,
  { status, body }: UpdateIncidentBody,
): Promise<IncidentDetails> {
  const { tx, organizationId, nowMs } = change;
  const before = await lock(change, id);
  if ((await countUpdates(tx, organizationId, id)) >= TIMELINE_MAX_ROWS)
    throw new ApiError("CONFLICT", `The timeline has ${TIMELINE_MAX_ROWS} entries; open another incident.`);
  const wasOpen = before.incident.resolvedAt === null;
  let after: StoredIncident;
  if (wasOpen && status === "resolved") {
    after = await endIncident(change, before, { resolution: "person", atMs: nowMs, body, isPublic: true });
  } else if (!wasOpen && status !== "resolved") {
    after = await reopen(change, before, status);
    const update = await note(change, after, { kind: "reopened", body, isPublic: true });
    tell(change, incidentReopened, after, { update, notify: true });
  } else {
    after = await updateIncident(tx, organizationId, id, { status }, nowMs);
    const update = await note(change, after, { kind: "update", body, isPublic: true });
    tell(change, incidentUpdated, after, { update, notify: true });
  }
  change.record({ resource: resourceOf(after), before: before.incident, after: after.incident });
  return detailsOf(tx, organizationId, after);
}

/** A repetition changes nothing. Throws NOT_FOUND, and CONFLICT for one that is resolved. */
export async function acknowledge(change: Change, id: number): Promise<IncidentDetails> {
  const { tx, organizationId, nowMs } = change;
  const before = await lock(change, id);
  if (before.incident.resolvedAt !== null)
    throw new ApiError("CONFLICT", "The incident is resolved; there is nothing to acknowledge.");
  let after = before;
  if (before.incident.acknowledgedAt === null) {
    const by = { acknowledgedAt: new Date(nowMs), acknowledgedBy: personOf(change.actor).userId };
    after = await updateIncident(tx, organizationId, id, by, nowMs);
    const update = await note(change, after, {
      kind: "acknowledged",
      body: "Acknowledged.",
      isPublic: false,
    });
    tell(change, incidentAcknowledged, after, { update, notify: true });
  }
  change.record({ resource: resourceOf(after), before: before.incident, after: after.incident });
  return detailsOf(tx, organizationId, after);
}

/** A repetition changes nothing. Throws NOT_FOUND. */
export async function resolve(change: Change, id: number): Promise<IncidentDetails> {
  const { tx, organizationId, nowMs } = change;
  const before = await lock(change, id);
  const ending = { resolution: "person", atMs: nowMs, body: "Resolved.", isPublic: false } as const;
  const after = before.incident.resolvedAt === null ? await endIncident(change, before, ending) : before;
  change.record({ resource: resourceOf(after), before: before.incident, after: after.incident });
  return detailsOf(tx, organizationId, after);
}

/** Throws NOT_FOUND. */
export async function setPostmortem(
  change: Change,
  id: number,
  postmortem: string,
): Promise<IncidentDetails> {
  const { tx, organizationId, nowMs } = change;
  const before = await lock(change, id);
  const after = await updateIncident(tx, organizationId, id, { postmortem }, nowMs);
  change.record({
    resource: resourceOf(after),
    before: { postmortem: before.postmortem },
    after: { postmortem },
  });
  return detailsOf(tx, organizationId, after);
}

async function reopen(
  { tx, organizationId, nowMs }: Change,
  { incident: { id, sourceKey, reopened } }: StoredIncident,
  status: UpdateIncidentBody["status"],
): Promise<StoredIncident> {
  if (sourceKey !== null && (await isKeyOpen(tx, organizationId, sourceKey)))
    throw new ApiError("CONFLICT", "Another incident of the same source is open already.");
  const changes = {
    status,
    resolvedAt: null,
    resolution: null,
    acknowledgedAt: null,
    acknowledgedBy: null,
    reopened: reopened + 1,
    flapping: false,
  };
  return updateIncident(tx, organizationId, id, changes, nowMs);
}

/** The incident, and everything that happens to its key, until the change is over. Throws NOT_FOUND. */
async function lock({ tx, organizationId }: Change, id: number): Promise<StoredIncident> {
  const key = await findKey(tx, organizationId, id);
  if (typeof key === "string") await lockKey(tx, organizationId, key);
  const found = key === undefined ? null : await lockIncident(tx, organizationId, id);
  if (found === null) throw noSuchIncident();
  return found;
}

async function detailsOf(
  tx: TransactionSql,
  organizationId: number,
  { incident, postmortem, evidence }: StoredIncident,
): Promise<IncidentDetails> {
  const updates = await listUpdates(tx, organizationId, incident.id);
  return { ...incident, postmortem, evidence: evidence === null ? null : { ...evidence }, updates };
}

function resourceOf({ incident }: StoredIncident): string {
  return `incident:${incident.id}`;
}

function noSuchIncident(): ApiError {
  return new ApiError("NOT_FOUND", "No such incident.");
}

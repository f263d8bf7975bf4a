import type { Change } from "../../changes/change.ts";
import { type Clearing, type Problem, SEVERITIES } from "../../problems/events.ts";
import { findSilence } from "../../problems/silences.ts";
import { incidentOpened, incidentReopened, incidentUpdated } from "./events.ts";
import { INCIDENT_MONITORS_MAX } from "./limits.ts";
import { judgeRecurrence, type Recurrence } from "./recurrence.ts";
import {
  addMonitors,
  insertIncident,
  lockIncidentOfKey,
  lockKey,
  type StoredIncident,
  updateIncident,
} from "./store.ts";
import { stormOf } from "./storms.ts";
import { endIncident, letSettle, note, tell } from "./timeline.ts";

/**
 * The one verb by which whatever notices something opens an incident: monitors, rules, other people's alerts, agents. One
 * is open of a key at a time, whoever raises it how often and on how many instances.
 */
export async function raiseProblem(change: Change, problem: Problem): Promise<void> {
  const { tx, organizationId, nowMs } = change;
  await lockKey(tx, organizationId, problem.key);
  const known = await lockIncidentOfKey(tx, organizationId, problem.key);
  if (known !== null && known.incident.resolvedAt === null) return goOn(change, known, problem);
  const recurrence = judgeRecurrence(pastOf(known), Date.parse(problem.since), nowMs);
  if (known === null || recurrence.kind === "opens") return open(change, problem);
  return reopen(change, known, problem, recurrence);
}

/** The problem is over, as its source says, or nobody will say any more whether it is. */
export async function clearProblem(change: Change, { key, at, cause, summary }: Clearing): Promise<void> {
  const { tx, organizationId } = change;
  await lockKey(tx, organizationId, key);
  const known = await lockIncidentOfKey(tx, organizationId, key);
  if (known === null || known.incident.resolvedAt !== null) return;
  const saysItIsWell = cause === "recovered" || cause === "sender";
  if (known.incident.flapping && saysItIsWell) {
    if (!known.isSettling) await letSettle(change, known);
    return;
  }
  const ending = { resolution: cause, atMs: Date.parse(at), body: summary, isPublic: false };
  await endIncident(change, known, ending);
}

async function open(change: Change, problem: Problem): Promise<void> {
  const { tx, organizationId, nowMs } = change;
  const silenceId = await silenceOf(change, problem);
  const storm = silenceId === null ? await stormOf(change, problem) : null;
  const made = await insertIncident(
    tx,
    organizationId,
    {
      title: problem.title,
      severity: problem.severity,
      sourceKey: problem.key,
      source: problem.source,
      openedAtMs: Math.min(Date.parse(problem.since), nowMs),
      escalationPolicyId: problem.escalationPolicyId ?? null,
      evidence: problem.evidence ?? null,
      monitorIds: problem.monitorIds,
      silenceId,
      storm,
    },
    nowMs,
  );
  const { isHeldBack } = made;
  const body = isHeldBack
    ? `${problem.summary} Many of this rule open at once: one message will tell of them.`
    : toldText(problem.summary, silenceId);
  const update = await note(change, made, { kind: "opened", body, isPublic: false });
  tell(change, incidentOpened, made, { update, notify: silenceId === null && !isHeldBack });
}

async function reopen(
  change: Change,
  { incident, isHeldBack }: StoredIncident,
  problem: Problem,
  { isFlapping, reopenedAtMs }: Extract<Recurrence, { kind: "reopens" }>,
): Promise<void> {
  const { tx, organizationId, nowMs } = change;
  await addMonitors(tx, organizationId, incident.id, newMonitors(incident.monitorIds, problem));
  const silenceId = await silenceOf(change, problem);
  const reopened = await updateIncident(
    tx,
    organizationId,
    incident.id,
    {
      title: problem.title,
      severity: problem.severity,
      source: problem.source,
      status: "investigating",
      acknowledgedAt: null,
      acknowledgedBy: null,
      resolvedAt: null,
      resolution: null,
      reopened: incident.reopened + 1,
      reopenedAt: reopenedAtMs.map((atMs) => new Date(atMs)),
      flapping: isFlapping,
      silenceId,
      ...(problem.evidence !== undefined && { evidence: problem.evidence }),
    },
    nowMs,
  );
  const kind = isFlapping ? "flapping" : "reopened";
  const body = toldText(problem.summary, silenceId);
  const update = await note(change, reopened, { kind, body, isPublic: false });
  tell(change, incidentReopened, reopened, { update, notify: silenceId === null && !isHeldBack });
}

/** One that is open: what is told again the same leaves no trace. */
async function goOn(change: Change, known: StoredIncident, problem: Problem): Promise<void> {
  const { tx, organizationId, nowMs } = change;
  const { incident } = known;
  const added = newMonitors(incident.monitorIds, problem);
  const isTold =
    incident.severity !== problem.severity || incident.title !== problem.title || added.length > 0;
  const evidence = problem.evidence ?? known.evidence;
  const hasEvidence = !Bun.deepEquals(evidence, known.evidence);
  if (!isTold && !hasEvidence && !known.isSettling) return;
  await addMonitors(tx, organizationId, incident.id, added);
  const changed = await updateIncident(
    tx,
    organizationId,
    incident.id,
    {
      title: problem.title,
      severity: problem.severity,
      settleAt: null,
      // It was well for a while, of which only the count tells: one that flaps sends one message.
      ...(known.isSettling && { reopened: incident.reopened + 1 }),
      ...(evidence !== null && { evidence }),
    },
    nowMs,
  );
  if (!isTold) return;
  const update = await note(change, changed, { kind: "changed", body: problem.summary, isPublic: false });
  const isSilenced = (changed.incident.silenceId ?? null) !== null;
  const hasRisen = SEVERITIES.indexOf(problem.severity) > SEVERITIES.indexOf(incident.severity);
  tell(change, incidentUpdated, changed, {
    update,
    notify: hasRisen && !incident.flapping && !isSilenced && !known.isHeldBack,
  });
}

function silenceOf({ tx, organizationId, nowMs }: Change, problem: Problem): Promise<number | null> {
  const { source, monitorIds, evidence = null } = problem;
  return findSilence(tx, organizationId, { source, monitorIds, evidence }, nowMs);
}

/** What stands in the timeline: also why nobody was told. */
function toldText(summary: string, silenceId: number | null): string {
  return silenceId === null ? summary : `${summary} Nobody is told: silence ${silenceId}.`;
}

function newMonitors(known: readonly number[], { monitorIds }: Problem): number[] {
  const added = [...new Set(monitorIds)].filter((id) => !known.includes(id));
  return added.slice(0, Math.max(0, INCIDENT_MONITORS_MAX - known.length));
}

function pastOf(known: StoredIncident | null): Parameters<typeof judgeRecurrence>[0] {
  if (known === null) return null;
  const { openedAt, resolvedAt, resolution } = known.incident;
  if (resolvedAt === null || resolution === null) return null;
  return {
    openedAtMs: Date.parse(openedAt),
    resolvedAtMs: Date.parse(resolvedAt),
    resolution,
    reopenedAtMs: known.reopenedAtMs,
  };
}

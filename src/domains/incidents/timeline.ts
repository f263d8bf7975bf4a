import { type Actor, personOf } from "../../changes/actor.ts";
import type { Change } from "../../changes/change.ts";
import type { EventKind } from "../../changes/events/event-kind.ts";
import { incidentResolved, type Told } from "./events.ts";
import { FLAPPING_SETTLE_MS, TIMELINE_MAX_NOTES, TOLD_BODY_MAX_CHARS } from "./limits.ts";
import { findIncident, type StoredIncident, settleAfter, updateIncident } from "./store.ts";
import type { IncidentUpdate, Resolution } from "./types.ts";
import { countUpdates, insertUpdate } from "./update-store.ts";

/** What happens to an incident, whoever causes it: the row of its timeline, and whom it is told. */

interface Note {
  readonly kind: IncidentUpdate["kind"];
  readonly body: string;
  /** What a person wrote themselves is shown to everybody. */
  readonly isPublic: boolean;
}

/** Writes what the server noted, or a person did, into the timeline; null where that is full. */
export async function note(
  change: Change,
  { incident }: StoredIncident,
  { kind, body, isPublic }: Note,
): Promise<IncidentUpdate | null> {
  const { tx, organizationId, nowMs } = change;
  if (!isPublic && (await countUpdates(tx, organizationId, incident.id)) >= TIMELINE_MAX_NOTES) return null;
  const row = { kind, status: incident.status, public: isPublic, body, userId: userOf(change.actor) };
  return insertUpdate(tx, organizationId, incident.id, row, nowMs);
}

/** Writes whom an escalation reached; an incident that is gone has no timeline. */
export async function notePage(change: Change, incidentId: number, body: string): Promise<void> {
  const found = await findIncident(change.tx, change.organizationId, incidentId);
  if (found !== null) await note(change, found, { kind: "paged", body, isPublic: false });
}

/** Tells whoever subscribes what has become of an incident. */
export function tell(
  change: Change,
  kind: EventKind<typeof incidentResolved.schema>,
  { incident }: StoredIncident,
  { update, notify }: Pick<Told, "update" | "notify">,
): void {
  change.emit(kind, `incident:${incident.id}`, {
    incident,
    run: incident.reopened,
    notify,
    update:
      update === null ? null : { ...update, body: [...update.body].slice(0, TOLD_BODY_MAX_CHARS).join("") },
  });
}

interface Ending {
  readonly resolution: Resolution;
  readonly atMs: number;
  readonly body: string;
  readonly isPublic: boolean;
}

/** Ends an incident that is open and locked. */
export async function endIncident(
  change: Change,
  { incident }: StoredIncident,
  { resolution, atMs, body, isPublic }: Ending,
): Promise<StoredIncident> {
  const { tx, organizationId, nowMs } = change;
  const resolvedAt = new Date(Math.max(Date.parse(incident.openedAt), Math.min(atMs, nowMs)));
  const ended = await updateIncident(
    tx,
    organizationId,
    incident.id,
    { status: "resolved", resolvedAt, resolution, settleAt: null },
    nowMs,
  );
  const update = await note(change, ended, { kind: "resolved", body, isPublic });
  tell(change, incidentResolved, ended, { update, notify: !ended.isHeldBack });
  return ended;
}

/** Has one that flaps end once it has stayed well. */
export async function letSettle(change: Change, { incident }: StoredIncident): Promise<void> {
  await settleAfter(change.tx, change.organizationId, incident.id, FLAPPING_SETTLE_MS);
}

function userOf(actor: Actor): number | null {
  return actor.kind === "rule" || actor.kind === "job" ? null : personOf(actor).userId;
}

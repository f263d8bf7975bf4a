import { setTimeout as pause } from "node:timers/promises";
import type { Sql } from "postgres";
import type { SecretBox } from "../../access/secret-box.ts";
import type { Change } from "../../changes/change.ts";
import { type Changes, SERVER_ORIGIN } from "../../changes/changes.ts";
import { fulfilledWithin } from "../../concurrency/deadline.ts";
import { WorkLoop } from "../../concurrency/work-loop.ts";
import { whenDue } from "../../jobs/due-watch.ts";
import type { Logger } from "../../log.ts";
import { endOfWork, readWindows, windowsOfMonitor } from "../../maintenance/windows.ts";
import type { ChannelName } from "../../notify/channels/target.ts";
import { supersede } from "../../notify/deliveries/delivery-store.ts";
import type { Teller, Telling } from "../../notify/deliveries/tell.ts";
import { ownerTargets, personTargets } from "../../notify/people.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import {
  beginEscalation,
  type DueEscalation,
  defaultPolicyId,
  dueEscalations,
  type EscalatedIncident,
  endEscalations,
  findPolicy,
  isDue,
  type LockedEscalation,
  lockDue,
  lockIncident,
  putOff,
  saveEscalation,
} from "./escalation-store.ts";
import { stepTaken } from "./events.ts";
import { begin, type TakenStep, takeStep } from "./next.ts";
import { reachOf } from "./reach.ts";

/** While nobody wakes the loop: steps are due to the second. */
const POLL_MS = 1_000;
const BATCH_MAX = 100;
/** Organisations whose steps are taken at a time: each holds one of ten connections to Postgres. */
const ORGANIZATIONS_MAX = 4;
/** After which a step that failed is tried again, and one whose incident somebody was changing. */
const PUT_OFF_MS = 10_000;
const BUSY_MS = 100;
const STOP_MS = 1_000;
/** Sources that only notify: an objective that is missed, a certificate that ends some day. */
const NEVER_PAGE = ["slo", "certificate"];
const EVERY_CHANNEL: readonly ChannelName[] = ["email", "sms", "voice", "template"];

interface EscalationDependencies {
  readonly sql: Sql;
  readonly box: SecretBox;
  /** Asked for when it is needed, for what changes tell is what begins escalations. */
  readonly changes: () => Changes;
  readonly teller: Teller;
  readonly publicUrl: string;
  /** Where a person says that they take care of an incident. */
  readonly acknowledgeLink: (page: { organizationId: number; incidentId: number; userId: number }) => string;
  readonly onTold: () => void;
  readonly log: Logger;
}

/** An incident that has opened, as its events tell of it. */
interface OpenedIncident {
  readonly id: number;
  readonly source: { readonly kind: string } | null;
  readonly escalationPolicyId: number | null;
}

/**
 * Reaches people, one after the other, until somebody answers. What is next is kept in Postgres, and a step is one
 * transaction: who is paged, the timeline and when the next one is due. Any number of instances may run the loop; a step
 * is taken once, and an incident that is answered or over is locked out of it.
 */
export class Escalations {
  readonly #deps: EscalationDependencies;
  readonly #loop: WorkLoop;
  /** By organisation: its steps are taken one after the other, and those of others meanwhile. */
  readonly #running = new Map<number, Promise<void>>();

  constructor(deps: EscalationDependencies) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      work: () => this.stepDue(),
      pollMs: POLL_MS,
      watch: whenDue(deps.sql, (sql) => sql`EXISTS (SELECT 1 FROM escalations WHERE ${isDue(sql)})`),
      failure: "escalations could not be read",
      log: deps.log,
    });
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop(STOP_MS);
    await fulfilledWithin(this.settled(), STOP_MS);
  }

  /** Waits until no step is being taken. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  /** Begins the escalation of an incident that opened or came back, by its policy as it is now. */
  async begin(change: Change, incident: OpenedIncident, run: number): Promise<void> {
    const { tx, organizationId, nowMs } = change;
    const { id, source, escalationPolicyId } = incident;
    if (source !== null && NEVER_PAGE.includes(source.kind)) return;
    // What people open by hand reaches somebody only where they say so.
    const byDefault = source === null ? null : await defaultPolicyId(tx, organizationId);
    const policyId = escalationPolicyId ?? byDefault;
    if (policyId === null) return;
    const policy = await findPolicy(tx, organizationId, policyId);
    if (policy === null) return;
    const { nextAt } = begin(policy, nowMs);
    if (nextAt === null) return;
    if (await beginEscalation(tx, organizationId, { incidentId: id, run, policy, nextAt, nowMs }))
      change.afterCommit(() => this.#loop.wake());
  }

  /** Somebody answered, or it is over: nobody else is woken, not even by what is written and not yet sent. */
  async end(change: Change, incidentId: number, why: "answered" | "over"): Promise<void> {
    const { tx, organizationId } = change;
    await endEscalations(tx, organizationId, incidentId, why);
    await supersede(tx, organizationId, { incidentId, channels: EVERY_CHANNEL, priority: 0 });
  }

  /** Begins every step that is due; true when there may be more. */
  async stepDue(): Promise<boolean> {
    const room = ORGANIZATIONS_MAX - this.#running.size;
    // Whatever ends wakes the loop.
    if (room === 0) return false;
    const busy = [...this.#running.keys()];
    const due = await askPostgres(() => dueEscalations(this.#deps.sql, { busy, max: BATCH_MAX }));
    const byOrganization = Map.groupBy(due, ({ organizationId }) => organizationId);
    for (const [organizationId, own] of [...byOrganization].slice(0, room)) {
      const running = this.#stepEach(own).finally(() => {
        this.#running.delete(organizationId);
        this.#loop.wake();
      });
      this.#running.set(organizationId, running);
    }
    return due.length > 0;
  }

  /** One after the other. Never rejects. */
  async #stepEach(due: readonly DueEscalation[]): Promise<void> {
    const { sql, log } = this.#deps;
    for (const escalation of due) {
      const delayMs = await this.#step(escalation).then(
        (isTaken) => (isTaken ? null : BUSY_MS),
        (error: unknown) => {
          log.error({ err: error, incidentId: escalation.incidentId }, "a step of an escalation failed");
          return PUT_OFF_MS;
        },
      );
      if (delayMs === null) continue;
      // What cannot be put off is due still, and comes with the next look.
      await askPostgres(() => putOff(sql, escalation, delayMs)).catch(() => undefined);
      // Those who change an incident that has just opened are done in milliseconds: its first page does not wait for a look.
      if (delayMs === BUSY_MS) void pause(BUSY_MS, undefined, { ref: false }).then(() => this.#loop.wake());
    }
  }

  /** False where somebody is changing the incident, or has taken the step. */
  #step(due: DueEscalation): Promise<boolean> {
    const { organizationId, incidentId } = due;
    const cause = {
      organizationId,
      actor: { kind: "job", name: "escalation" },
      origin: SERVER_ORIGIN,
    } as const;
    return this.#deps.changes().inChange(cause, null, async (change) => {
      const { tx } = change;
      // The incident first, as whoever acknowledges it does.
      const incident = await lockIncident(tx, organizationId, incidentId);
      const locked = incident === null ? null : await lockDue(tx, due);
      if (incident === null || locked === null) return false;
      if (incident.needsNobody === null) await this.#take(change, due, incident, locked);
      else await this.end(change, incidentId, incident.needsNobody);
      return true;
    });
  }

  /** Takes the step that is due of an escalation that is locked, as its incident is. */
  async #take(
    change: Change,
    due: DueEscalation,
    incident: EscalatedIncident,
    { policy, escalation }: LockedEscalation,
  ): Promise<void> {
    const { tx, organizationId, nowMs } = change;
    const { incidentId } = due;
    const resumeAt = await this.#maintainedUntil(change, incident);
    if (resumeAt !== null) return saveEscalation(tx, due, { ...escalation, nextAt: resumeAt }, nowMs);
    const range = { from: nowMs, to: nowMs };
    const { reach, addresses } = await reachOf(tx, organizationId, policy, range);
    const next = takeStep(policy, escalation, nowMs, reach);
    await saveEscalation(tx, due, next.escalation, nowMs);
    const { userId } = next.taken;
    const address = userId === null ? null : (addresses.get(userId) ?? null);
    if (userId !== null && address !== null) await this.#page(change, due, incident, next.taken, address);
    const isLast = next.escalation.nextAt === null;
    change.emit(stepTaken, `incident:${incidentId}`, {
      incidentId,
      summary: summaryOf(next.taken, address, isLast),
    });
    if (isLast) await this.#tellOwners(change, due, incident);
    else change.afterCommit(() => this.#loop.wake());
  }

  /** Until when announced work on all of its monitors holds the next step back; null when nothing does. */
  async #maintainedUntil(
    { tx, organizationId, nowMs }: Change,
    { source, monitorIds }: EscalatedIncident,
  ): Promise<number | null> {
    if (source === null || monitorIds.length === 0) return null;
    const now = { fromMs: nowMs, toMs: nowMs };
    const windows = await readWindows(tx, organizationId, monitorIds, now);
    const ends = monitorIds.map((monitorId) => endOfWork(windowsOfMonitor(windows, monitorId), nowMs));
    const held = ends.filter((end) => end !== null);
    return held.length === monitorIds.length ? Math.min(...held) : null;
  }

  async #page(
    change: Change,
    { organizationId, incidentId, run }: DueEscalation,
    incident: EscalatedIncident,
    { step, cycle, userId }: TakenStep,
    address: string,
  ): Promise<void> {
    const { box, publicUrl, acknowledgeLink, log } = this.#deps;
    const { tx, nowMs } = change;
    if (userId === null) return;
    const targets = await personTargets(tx, box, organizationId, { userId, address }, log);
    const notification = {
      ...pageOf(incident, incidentId, publicUrl, nowMs),
      acknowledgeLink: acknowledgeLink({ organizationId, incidentId, userId }),
    };
    const eventId = `page:${incidentId}:${run}:${cycle}:${step}:${userId}`;
    await this.#tell(change, { incidentId, eventId, notification, targets });
  }

  /** Nobody has answered: that is never the end of it without somebody knowing. */
  async #tellOwners(
    change: Change,
    { organizationId, incidentId, run }: DueEscalation,
    incident: EscalatedIncident,
  ): Promise<void> {
    const { publicUrl } = this.#deps;
    const { tx, nowMs } = change;
    const page = pageOf(incident, incidentId, publicUrl, nowMs);
    const notification = {
      ...page,
      type: "escalation.exhausted",
      title: `Nobody has answered: ${incident.title}`,
      lines: ["Every step of its escalation was taken and nobody has acknowledged it.", ...page.lines],
    };
    const targets = await ownerTargets(tx, organizationId);
    const eventId = `exhausted:${incidentId}:${run}`;
    await this.#tell(change, { incidentId, eventId, notification, targets });
  }

  async #tell(
    { tx, organizationId, nowMs, afterCommit }: Change,
    told: Omit<Telling, "isPage">,
  ): Promise<void> {
    const { teller, onTold } = this.#deps;
    await teller.tell(tx, organizationId, { ...told, isPage: true }, nowMs);
    afterCommit(onTold);
  }
}

function pageOf(incident: EscalatedIncident, incidentId: number, publicUrl: string, nowMs: number) {
  const { title, severity, openedAt, source } = incident;
  return {
    type: "incident.paged",
    tone: "problem" as const,
    at: new Date(nowMs).toISOString(),
    severity,
    title,
    lines: [`Since ${openedAt.toISOString().slice(0, 19).replace("T", " ")} UTC, severity ${severity}.`],
    incidentId,
    incident: null,
    monitor: source?.kind === "monitor" ? { id: source.id, name: source.name } : null,
    link: `${publicUrl}/incidents/${incidentId}`,
    acknowledgeLink: null,
  };
}

function summaryOf({ step, cycle }: TakenStep, address: string | null, isLast: boolean): string {
  const round = cycle === 0 ? "" : `, round ${cycle + 1}`;
  const reached = address === null ? "nobody is on call" : `${address} is paged`;
  const end = isLast ? " Nobody is left to page; the owners are told." : "";
  return `Step ${step + 1}${round}: ${reached}.${end}`;
}

import type { Sql } from "postgres";
import { Changes } from "../changes/changes.ts";
import { EventDelivery } from "../changes/events/event-delivery.ts";
import { removeOldEvents } from "../changes/events/event-store.ts";
import { on, type Subscription, subscribe, subscribeInOrder } from "../changes/events/subscription.ts";
import type { Escalations } from "../domains/escalation/escalations.ts";
import { stepTaken } from "../domains/escalation/events.ts";
import { incidentSubscription } from "../domains/incidents/domain.ts";
import {
  incidentAcknowledged,
  incidentOpened,
  incidentReopened,
  incidentResolved,
  incidentUpdated,
} from "../domains/incidents/events.ts";
import { notePage } from "../domains/incidents/timeline.ts";
import { monitorReminder, monitorUnobserved } from "../domains/monitors/scheduling/events.ts";
import type { IncidentNotices } from "../domains/notifications/incident-notices.ts";
import type { IncidentEvent } from "../domains/notifications/words.ts";
import { memberRemoved } from "../domains/organizations/events.ts";
import { tellSubscribers } from "../domains/status-pages/subscribers/notices.ts";
import { linkIncident } from "../entities/incident-links.ts";
import type { DependencyCheck } from "../health/readiness.ts";
import { giveHomeOrganization } from "../identity/home-organization.ts";
import type { Logger } from "../log.ts";
import type { RemoveExpired } from "./housekeeping.ts";
import type { Metrics } from "./metrics.ts";

/** What subscribers need besides the change that an event is delivered in. */
interface Subscribers {
  readonly notices: IncidentNotices;
  readonly escalations: Pick<Escalations, "begin" | "end">;
}

/** Who is told of what: where domains meet that do not know each other. */
export const SUBSCRIPTIONS: readonly Subscription[] = [
  subscribe(
    memberRemoved,
    "give-home-organization",
    ({ payload }, change) => giveHomeOrganization(change, payload.userId),
    { reachesFurther: "it makes an organisation, and looks whether the person belongs to others" },
  ),
  incidentSubscription,
  subscribe(stepTaken, "note-escalations", ({ payload: { incidentId, summary } }, change) =>
    notePage(change, incidentId, summary),
  ),
];

/** The same of those that need more than the change in which an event is delivered. */
function subscriptionsOf({ notices, escalations }: Subscribers): readonly Subscription[] {
  const tells = (event: IncidentEvent) =>
    on(INCIDENT_EVENTS[event], async (told, change) => {
      const { incident, notify, update } = told.payload;
      if (!notify) return;
      const at = timeOf(told.happenedAtMs);
      await notices.tell(change, told.id, { event, incident, update, at });
    });
  const events = ["opened", "acknowledged", "updated", "reopened", "resolved"] as const;
  return [
    ...SUBSCRIPTIONS,
    subscribeInOrder("notify-of-incidents", events.map(tells)),
    subscribeInOrder("notify-of-monitors", [
      on(monitorReminder, ({ id, payload, happenedAtMs }, change) =>
        notices.tellOfMonitor(change, id, { kind: "reminder", ...payload, at: timeOf(happenedAtMs) }),
      ),
      on(monitorUnobserved, ({ id, payload, happenedAtMs }, change) =>
        notices.tellOfMonitor(change, id, { kind: "unobserved", ...payload, at: timeOf(happenedAtMs) }),
      ),
    ]),
    subscribeInOrder(
      "tell-subscribers",
      events.map((event) =>
        on(INCIDENT_EVENTS[event], ({ payload: { incident } }, change) =>
          tellSubscribers(change, incident.id, incident.monitorIds),
        ),
      ),
    ),
    subscribeInOrder("link-incidents", [
      on(incidentOpened, ({ payload: { incident } }, change) => linkIncident(change, incident)),
      on(incidentReopened, ({ payload: { incident } }, change) => linkIncident(change, incident)),
    ]),
    subscribeInOrder("escalate-incidents", [
      on(incidentOpened, ({ payload: { incident, run, notify } }, change) =>
        notify ? escalations.begin(change, incident, run) : Promise.resolve(),
      ),
      on(incidentReopened, ({ payload: { incident, run, notify } }, change) =>
        notify ? escalations.begin(change, incident, run) : Promise.resolve(),
      ),
      on(incidentAcknowledged, ({ payload: { incident } }, change) =>
        escalations.end(change, incident.id, "answered"),
      ),
      on(incidentResolved, ({ payload: { incident } }, change) =>
        escalations.end(change, incident.id, "over"),
      ),
    ]),
  ];
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

const INCIDENT_EVENTS = {
  opened: incidentOpened,
  acknowledged: incidentAcknowledged,
  updated: incidentUpdated,
  reopened: incidentReopened,
  resolved: incidentResolved,
} as const;

interface ServerEventsOptions {
  readonly sql: Sql;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly subscribers: Subscribers;
  /** Told when an audit log has grown. */
  readonly onAudited: () => void;
}

/** How state changes on this server, and the delivery of what tells of it, here, by other instances and before the start. */
interface ServerEvents {
  readonly changes: Changes;
  readonly checks: readonly DependencyCheck[];
  readonly housekeeping: readonly RemoveExpired[];
  start(): void;
  stop(): Promise<void>;
}

export function openServerEvents({
  sql,
  metrics,
  log,
  subscribers,
  onAudited,
}: ServerEventsOptions): ServerEvents {
  const subscriptions = subscriptionsOf(subscribers);
  const changes = new Changes({
    sql,
    now: Date.now,
    subscriptions,
    onAudited,
    onEmitted: () => delivery.wake(),
  });
  const delivery = new EventDelivery({ sql, changes, subscriptions, metrics: metrics.events, log });
  return {
    changes,
    checks: [{ name: "events", check: async () => delivery.status() }],
    housekeeping: [removeOldEvents],
    start: () => delivery.start(),
    stop: () => delivery.stop(),
  };
}

import type { Sql } from "postgres";
import { Changes } from "../changes/changes.ts";
import { EventDelivery } from "../changes/events/event-delivery.ts";
import { type Subscription, subscribe } from "../changes/events/subscription.ts";
import { memberRemoved } from "../domains/organizations/events.ts";
import { giveHomeOrganization } from "../identity/home-organization.ts";
import type { Logger } from "../log.ts";
import type { Metrics } from "./metrics.ts";

/** Who is told of what: where domains meet that do not know each other. */
export const SUBSCRIPTIONS: readonly Subscription[] = [
  subscribe(
    memberRemoved,
    "give-home-organization",
    ({ payload }, change) => giveHomeOrganization(change, payload.userId),
    { reachesFurther: "it makes an organisation, and looks whether the person belongs to others" },
  ),
];

interface ServerEventsOptions {
  readonly sql: Sql;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Told when an audit log has grown. */
  readonly onAudited: () => void;
}

/** How state changes on this server, and what tells of it. */
interface ServerEvents {
  readonly changes: Changes;
  readonly delivery: EventDelivery;
}

/** Begins to deliver what was emitted here, by other instances and before the start. */
export function openServerEvents({ sql, metrics, log, onAudited }: ServerEventsOptions): ServerEvents {
  const subscriptions = SUBSCRIPTIONS;
  const changes = new Changes({
    sql,
    now: Date.now,
    subscriptions,
    onAudited,
    onEmitted: () => delivery.wake(),
  });
  const delivery = new EventDelivery({ sql, changes, subscriptions, metrics: metrics.events, log });
  delivery.start();
  return { changes, delivery };
}

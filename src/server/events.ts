import type { Sql } from "postgres";
import { Changes } from "../changes/changes.ts";
import { EventDelivery } from "../changes/events/event-delivery.ts";
import { removeOldEvents } from "../changes/events/event-store.ts";
import { type Subscription, subscribe } from "../changes/events/subscription.ts";
import { memberRemoved } from "../domains/organizations/events.ts";
import type { DependencyCheck } from "../health/readiness.ts";
import { giveHomeOrganization } from "../identity/home-organization.ts";
import type { Logger } from "../log.ts";
import type { RemoveExpired } from "./housekeeping.ts";
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

/** How state changes on this server, and the delivery of what tells of it, here, by other instances and before the start. */
interface ServerEvents {
  readonly changes: Changes;
  readonly checks: readonly DependencyCheck[];
  readonly housekeeping: readonly RemoveExpired[];
  start(): void;
  stop(): Promise<void>;
}

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
  return {
    changes,
    checks: [{ name: "events", check: async () => delivery.status() }],
    housekeeping: [removeOldEvents],
    start: () => delivery.start(),
    stop: () => delivery.stop(),
  };
}

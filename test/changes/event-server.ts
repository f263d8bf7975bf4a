import { Type } from "typebox";
import type { Actor } from "../../src/changes/actor.ts";
import type { Change } from "../../src/changes/change.ts";
import { Changes, SERVER_ORIGIN } from "../../src/changes/changes.ts";
import { EventDelivery } from "../../src/changes/events/event-delivery.ts";
import { defineEvent } from "../../src/changes/events/event-kind.ts";
import { type Subscription, subscribe } from "../../src/changes/events/subscription.ts";
import { createLogger } from "../../src/log.ts";
import { createMetrics, type Metrics } from "../../src/server/metrics.ts";
import { makeOrganization } from "../audit/audited-organization.ts";
import type { TestStores } from "../harness/stores.ts";

type Sql = TestStores["postgres"];

export { makeOrganization };

/** Two kinds of event of these suites, and who acts in them. */
export const thingMade = defineEvent(
  "thing.made",
  Type.Object({ n: Type.Integer(), text: Type.Optional(Type.String()) }, { additionalProperties: false }),
);
export const thingCopied = defineEvent("thing.copied", Type.Object({ n: Type.Integer() }));

export const PERSON: Actor = { kind: "person", userId: 5, email: "ana@example.com" };
export const RULE: Actor = { kind: "rule", id: 17, name: "Errors of checkout" };
export const JOB: Actor = { kind: "job", name: "sweeper" };

/** One instance of a server as far as changes and events go. */
interface EventServer {
  readonly changes: Changes;
  readonly delivery: EventDelivery;
  readonly metrics: Metrics;
  /** How often there was something to deliver, as the emitting instance was told. */
  readonly woken: () => number;
  /** Makes a change that emits `thing.made` for each number, about one subject. */
  readonly emit: (organizationId: number, subject: string, ...numbers: number[]) => Promise<void>;
  /** Delivers until nothing is due. */
  readonly deliver: () => Promise<void>;
}

export function eventServer(sql: Sql, subscriptions: readonly Subscription[]): EventServer {
  let wakes = 0;
  const changes = new Changes({
    sql,
    now: Date.now,
    subscriptions,
    onEmitted: () => {
      wakes += 1;
    },
  });
  const metrics = createMetrics();
  const log = createLogger("silent");
  const delivery = new EventDelivery({ sql, changes, subscriptions, metrics: metrics.events, log });
  return {
    changes,
    delivery,
    metrics,
    woken: () => wakes,
    emit: (organizationId, subject, ...numbers) =>
      changes.inChange({ organizationId, actor: JOB, origin: SERVER_ORIGIN }, null, async (change) => {
        for (const n of numbers) change.emit(thingMade, subject, { n });
      }),
    deliver: async () => {
      while (await delivery.deliverDue(new AbortController().signal)) await delivery.settled();
    },
  };
}

/** A subscriber that keeps what it is told in a row each, and may do more besides. */
export function keeper(name: string, also?: (n: number, change: Change) => Promise<void>): Subscription {
  return subscribe(thingMade, name, async ({ subject, payload: { n } }, change) => {
    await insertThing(change, `${name} ${subject} ${n}`);
    await also?.(n, change);
  });
}

/** A row of the organisation, whichever table. */
export async function insertThing({ tx, organizationId }: Change, name: string): Promise<void> {
  await tx`
    INSERT INTO saved_searches (organization_id, name, created_at, updated_at)
    VALUES (${organizationId}, ${name}, now(), now())`;
}

/** The names of an organisation's things in the order in which they were made. */
export async function thingsOf(sql: Sql, organizationId: number): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    SELECT name FROM saved_searches WHERE organization_id = ${organizationId} ORDER BY id`;
  return rows.map(({ name }) => name);
}

interface Waiting {
  readonly event_id: string;
  readonly subscriber: string;
  readonly subject: string;
  readonly attempts: number;
  readonly is_due: boolean;
  readonly is_set_aside: boolean;
  readonly last_error: string | null;
}

/** What an organisation's subscribers are still to be told. */
export async function waitingOf(sql: Sql, organizationId: number): Promise<Waiting[]> {
  return sql<Waiting[]>`
    SELECT event_id, subscriber, subject, attempts, coalesce(due_at <= clock_timestamp(), false) AS is_due,
           set_aside_at IS NOT NULL AS is_set_aside, last_error
    FROM event_deliveries WHERE organization_id = ${organizationId} ORDER BY event_id, subscriber`;
}

/** Ends every lease and every pause after a failure, as time does. */
export async function letTimePass(sql: Sql): Promise<void> {
  await sql`UPDATE event_deliveries SET due_at = clock_timestamp() WHERE due_at IS NOT NULL`;
}

import type { Sql } from "postgres";
import { fulfilledWithin } from "../../concurrency/deadline.ts";
import { WorkLoop } from "../../concurrency/work-loop.ts";
import { DependencyError } from "../../errors.ts";
import type { DependencyStatus } from "../../health/readiness.ts";
import { backoffMs } from "../../jobs/claims/backoff.ts";
import { whenDue } from "../../jobs/due-watch.ts";
import type { Logger } from "../../log.ts";
import { allOf } from "../../storage/all-of.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { askUntilBack } from "../../storage/ask-until-back.ts";
import { storableText } from "../../storage/storable-text.ts";
import { endWhenStuck } from "../../storage/stuck-transaction.ts";
import type { Change } from "../change.ts";
import { type Changes, SERVER_ORIGIN } from "../changes.ts";
import {
  DELIVERIES_MAX_RUNNING,
  DELIVERIES_MAX_RUNNING_OF_ONE,
  DELIVERIES_TOGETHER,
  DELIVERY_ATTEMPTS_MAX,
  DELIVERY_BACKOFF,
  DELIVERY_ERROR_MAX_CHARS,
  DELIVERY_LAG_MAX_MS,
  DELIVERY_LEASE_MS,
  DELIVERY_POLL_MS,
  DELIVERY_SILENCE_MAX_MS,
  DELIVERY_STOP_MS,
  SET_ASIDE_COUNTED_MAX,
} from "../limits.ts";
import {
  type ClaimedDelivery,
  claimDeliveries,
  type DeliveryBacklog,
  holdDelivery,
  isAnyBehind,
  isAnyDue,
  postponeDelivery,
  readBacklog,
  setDeliveryAside,
  settleDeliveries,
} from "./delivery-claims.ts";
import type { EventMetrics } from "./event-metrics.ts";
import { placesOf } from "./places.ts";
import type { Subscription } from "./subscription.ts";

interface EventDeliveryOptions {
  readonly sql: Sql;
  readonly changes: Changes;
  readonly subscriptions: readonly Subscription[];
  readonly metrics: EventMetrics;
  readonly log: Logger;
  /** For tests. */
  readonly silenceMaxMs?: number;
}

/**
 * Tells subscribers of events. Any number of instances may: each takes deliveries of its own, and those of one that died
 * become due again. What a subscriber does and the end of its delivery are one transaction.
 */
export class EventDelivery {
  readonly #options: EventDeliveryOptions;
  readonly #subscriptions: ReadonlyMap<string, Subscription>;
  readonly #loop: WorkLoop;
  readonly #watch: WorkLoop;
  /** The places that are taken here, and whose they are. */
  readonly #running = new Map<Promise<void>, number>();
  #after = 0;
  #isStopped = false;
  #backlog: DeliveryBacklog = { lagMs: 0, setAside: 0 };

  constructor(options: EventDeliveryOptions) {
    const { subscriptions, log } = options;
    this.#options = options;
    this.#subscriptions = new Map(subscriptions.map((subscription) => [subscription.name, subscription]));
    if (this.#subscriptions.size < subscriptions.length) throw new Error("two subscribers have one name");
    this.#loop = new WorkLoop({
      work: (signal) => this.deliverDue(signal),
      pollMs: DELIVERY_POLL_MS,
      watch: whenDue(options.sql, isAnyDue),
      failure: "events could not be delivered",
      log,
    });
    this.#watch = new WorkLoop({
      work: () => this.#look(),
      pollMs: DELIVERY_POLL_MS,
      watch: whenDue(options.sql, (sql) => sql`${this.#backlog.lagMs > 0} OR ${isAnyBehind(sql)}`),
      failure: "how far events are behind could not be read",
      log,
    });
  }

  start(): void {
    this.#loop.start();
    this.#watch.start();
  }

  /** There may be events to deliver. */
  wake(): void {
    this.#loop.wake();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.#loop.stop(DELIVERY_STOP_MS), this.#watch.stop(DELIVERY_STOP_MS)]);
    await fulfilledWithin(this.settled(), DELIVERY_STOP_MS);
  }

  /** Until nothing is being delivered here. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.keys());
  }

  /** How far behind subscribers are, as last seen: never `down`, for what waits is not lost. */
  status(): Omit<DependencyStatus, "name"> {
    return this.#backlog.lagMs > DELIVERY_LAG_MAX_MS
      ? { state: "degraded", detail: "Events wait to be delivered." }
      : { state: "up" };
  }

  /** Begins what is due and has a place; true when there may be more. */
  async deliverDue(signal: AbortSignal): Promise<boolean> {
    const free = DELIVERIES_MAX_RUNNING - this.#running.size;
    // Every place that comes free wakes the loop.
    if (free === 0 || signal.aborted) return false;
    const after = this.#after;
    const claimed = await askPostgres(() =>
      claimDeliveries(this.#options.sql, {
        subscribers: [...this.#subscriptions.keys()],
        running: this.#runningOfEach(),
        maxRunningOfOne: DELIVERIES_MAX_RUNNING_OF_ONE,
        max: free,
        together: DELIVERIES_TOGETHER,
        after,
        leaseMs: DELIVERY_LEASE_MS,
      }),
    );
    const served = new Set(claimed.map(({ organizationId }) => organizationId));
    // Fewer organisations than places: those behind the last one have had their turn, and it is that of the first.
    this.#after = served.size === free ? Math.max(...served) : 0;
    for (const { organizationId, deliveries } of placesOf(claimed, DELIVERIES_TOGETHER)) {
      const running = this.#deliverAll(deliveries).finally(() => {
        this.#running.delete(running);
        this.#loop.wake();
      });
      this.#running.set(running, organizationId);
    }
    return claimed.length > 0 || after > 0;
  }

  #runningOfEach(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const organizationId of this.#running.values())
      counts.set(organizationId, (counts.get(organizationId) ?? 0) + 1);
    return counts;
  }

  async #deliverAll(deliveries: readonly ClaimedDelivery[]): Promise<void> {
    for (const [name, ofOne] of Map.groupBy(deliveries, ({ subscriber }) => subscriber))
      await this.#deliverOf(name, ofOne);
  }

  /** One that fails takes the transaction of the others with it: then each has its own, and it alone is put off. */
  async #deliverOf(name: string, deliveries: readonly ClaimedDelivery[]): Promise<void> {
    try {
      await this.#deliver(name, deliveries);
    } catch (error) {
      // While a store is away each would fail, and take its time for it.
      if (deliveries.length === 1 || error instanceof DependencyError)
        await Promise.all(deliveries.map((delivery) => this.#putOff(delivery, error)));
      else for (const delivery of deliveries) await this.#deliverOf(name, [delivery]);
    }
  }

  /**
   * What the subscriber does about some events of an organisation, and the end of their deliveries, as one transaction. It
   * does so at once, each event being about another subject: Postgres does one statement after the other and nobody waits in between.
   */
  async #deliver(name: string, deliveries: readonly ClaimedDelivery[]): Promise<void> {
    const subscription = this.#subscriptions.get(name);
    const [first] = deliveries;
    if (subscription === undefined || first === undefined)
      throw new Error("an unknown subscriber was claimed");
    const { changes, metrics, silenceMaxMs = DELIVERY_SILENCE_MAX_MS } = this.#options;
    const done = await changes.inChange(
      { organizationId: first.organizationId, actor: { kind: "job", name }, origin: SERVER_ORIGIN },
      null,
      async (change) => {
        await endWhenStuck(change.tx, silenceMaxMs);
        const isHandled = await allOf(deliveries.map((claimed) => handle(subscription, claimed, change)));
        const ended = deliveries.filter((_, index) => isHandled[index]);
        // Last, because others of the organisation wait from here on.
        await settleDeliveries(change.tx, ended);
        return ended.length;
      },
      subscription.options,
    );
    metrics.deliveries.inc({ outcome: "delivered" }, done);
  }

  async #putOff(claimed: ClaimedDelivery, thrown: unknown): Promise<void> {
    try {
      await this.#postpone(claimed, thrown);
    } catch (error) {
      const { eventId, subscriber } = claimed;
      this.#options.log.error({ eventId, subscriber, err: error }, "a delivery waits for its lease to end");
    }
  }

  async #postpone(claimed: ClaimedDelivery, thrown: unknown): Promise<void> {
    const { sql, metrics, log } = this.#options;
    const { eventId, subscriber, organizationId, attempt } = claimed;
    const about = { eventId, subscriber, organizationId, attempt, err: thrown };
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    const error = storableText(text.slice(0, DELIVERY_ERROR_MAX_CHARS));
    // While a store is away nothing is found out about the delivery.
    const isUncounted = thrown instanceof DependencyError;
    if (attempt >= DELIVERY_ATTEMPTS_MAX && !isUncounted) {
      await askPostgres(() => setDeliveryAside(sql, claimed, error));
      metrics.deliveries.inc({ outcome: "set_aside" });
      log.error(about, "an event could not be delivered and is set aside");
      return;
    }
    const delayMs = backoffMs(DELIVERY_BACKOFF, attempt);
    // While it is not put off the next ones of its subject wait for its lease, pages among them.
    await askUntilBack(
      () => postponeDelivery(sql, claimed, { delayMs, error, isUncounted }),
      () => this.#isStopped,
    );
    metrics.deliveries.inc({ outcome: "failed" });
    log.warn({ ...about, delayMs }, "an event could not be delivered; it is tried again");
  }

  async #look(): Promise<boolean> {
    const { sql, metrics } = this.#options;
    this.#backlog = await askPostgres(() => readBacklog(sql, SET_ASIDE_COUNTED_MAX));
    metrics.lagSec.set(this.#backlog.lagMs / 1000);
    metrics.setAside.set(this.#backlog.setAside);
    return false;
  }
}

/** Tells a subscriber of an event; false when the delivery is not this instance's any more. */
async function handle(
  subscription: Subscription,
  claimed: ClaimedDelivery,
  change: Change,
): Promise<boolean> {
  const event = await holdDelivery(change.tx, claimed);
  if (event === null) return false;
  const { name, handlers } = subscription;
  const handler = handlers.find(({ kind }) => kind === event.kind);
  // One that only a newer server handles waits for it, as a failure does.
  if (handler === undefined) throw new Error(`${name} does not handle ${event.kind}`);
  await handler.run(event, change);
  return true;
}

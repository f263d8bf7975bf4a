import type { Sql } from "postgres";
import type { SecretBox } from "../../access/secret-box.ts";
import { fulfilledWithin } from "../../concurrency/deadline.ts";
import { WorkLoop } from "../../concurrency/work-loop.ts";
import { DependencyError } from "../../errors.ts";
import type { DependencyStatus } from "../../health/readiness.ts";
import { whenDue } from "../../jobs/due-watch.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { askUntilBack } from "../../storage/ask-until-back.ts";
import type { ChannelEndpoints } from "../channels/channel.ts";
import type { Notification } from "../channels/notification.ts";
import { attempt, DEADLY, type Outcome, UNOPENED, type Ways } from "./attempt.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import {
  backlog,
  DELIVERIES,
  giveUp,
  isAnyDue,
  noteFailure,
  type TakenDelivery,
  takeRestOfTarget,
  toldSince,
} from "./delivery-store.ts";
import { digestOf } from "./digest.ts";
import { EndedDeliveries } from "./ended-deliveries.ts";
import {
  COUNTED_MAX,
  DEATHS_MAX,
  DIGEST_EVERY_MS,
  DIGEST_MAX,
  IN_FLIGHT_MAX,
  IN_FLIGHT_PER_LANE_MAX,
  IN_FLIGHT_PER_ORGANIZATION_MAX,
  JITTER,
  LEASE_MS,
  PAUSES_MS,
  POLL_MS,
  ROOM_WAIT_MS,
  rateOf,
  WAITING_TOO_LONG_MS,
} from "./limits.ts";
import { askedOnce, type SecretsOf } from "./secrets-of.ts";
import { takeDue } from "./take-due.ts";
import { type Message, openMessage } from "./tell.ts";
import { threadOf } from "./thread-of.ts";

/** How deliveries are sent that are begun now. */
interface Sending {
  readonly secretsOf: SecretsOf;
  readonly stopped: AbortSignal;
  readonly inDigest: boolean;
}

interface DeliverySenderOptions {
  readonly sql: Sql;
  readonly box: SecretBox;
  readonly endpoints: ChannelEndpoints;
  readonly ways: Ways;
  readonly secretsOf: SecretsOf;
  readonly metrics: { readonly deliveries: DeliveryMetrics };
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Tells receivers what was written for them. Any number of instances may: each takes deliveries of its own, and those of
 * one that died become due again, so that a receiver hears everything at least once, under the same id each time. One place
 * that hangs, and one organisation that has much to say, hold up nobody else: each has a share of what is under way.
 */
export class DeliverySender {
  readonly #options: DeliverySenderOptions;
  readonly #loop: WorkLoop;
  readonly #ends: EndedDeliveries;
  readonly #inFlight = new Map<TakenDelivery, Promise<void>>();
  #backlog = { waiting: 0, oldestAgeMs: 0 };
  #countedAtMs = 0;
  #isWaking = false;

  constructor(options: DeliverySenderOptions) {
    this.#options = options;
    this.#ends = new EndedDeliveries(options.sql);
    this.#loop = new WorkLoop({
      work: (signal) => this.sendDue(signal),
      pollMs: POLL_MS,
      watch: whenDue(options.sql, (sql) => sql`${this.#backlog.waiting > 0} OR ${isAnyDue(sql)}`),
      failure: "notifications could not be read",
      log: options.log,
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** There may be something to tell. */
  wake(): void {
    this.#loop.wake();
  }

  /** Ends sending: what is on its way gets up to `withinMs`; the next sender tells what was too slow once more. */
  async stop(withinMs: number): Promise<void> {
    await this.#loop.stop(withinMs);
    await fulfilledWithin(this.settled(), withinMs);
    this.#ends.stop();
  }

  /** Waits until nothing is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#inFlight.values());
  }

  /** Never `down`: the server works without anybody hearing of it, but says so. */
  status(): Omit<DependencyStatus, "name"> {
    return this.#backlog.oldestAgeMs > WAITING_TOO_LONG_MS
      ? { state: "degraded", detail: "Notifications wait to be sent." }
      : { state: "up" };
  }

  /** What has not been tried yet, as last seen. */
  backlog(): { waiting: number; oldestAgeMs: number } {
    return this.#backlog;
  }

  /** Begins what is due, as much as may be under way; true when there may be more. */
  async sendDue(signal: AbortSignal): Promise<boolean> {
    const { sql } = this.#options;
    const room = IN_FLIGHT_MAX - this.#inFlight.size;
    const taken =
      room === 0
        ? []
        : await askPostgres(() =>
            takeDue(
              sql,
              {
                max: room,
                lanes: this.#counts(({ lane }) => lane),
                perLane: IN_FLIGHT_PER_LANE_MAX,
                fullOrganizations: this.#fullOrganizations(),
                ratedTargets: [...this.#inFlight.keys()]
                  .filter((delivery) => rateOf(delivery) !== null)
                  .map(({ targetHash }) => targetHash),
              },
              LEASE_MS,
            ),
          );
    const tooMany: TakenDelivery[] = [];
    const secretsOf = askedOnce(this.#options.secretsOf);
    for (const delivery of taken) {
      const isFull = this.#fullOrganizations().includes(delivery.organizationId);
      if (signal.aborted || isFull) tooMany.push(delivery);
      else this.#begin(delivery, secretsOf, signal);
    }
    for (const delivery of tooMany) await askPostgres(() => DELIVERIES.giveBack(sql, delivery));
    await this.#count();
    return taken.length > tooMany.length;
  }

  /** Counts what waits, not oftener than somebody looks. */
  async #count(): Promise<void> {
    const { sql, now } = this.#options;
    if (Math.abs(now() - this.#countedAtMs) < POLL_MS) return;
    this.#countedAtMs = now();
    this.#backlog = await askPostgres(() => backlog(sql, COUNTED_MAX));
  }

  #begin(delivery: TakenDelivery, secretsOf: SecretsOf, signal: AbortSignal): void {
    const { sql, log } = this.#options;
    const sending = this.#send(delivery, secretsOf, signal)
      .catch(async (error: unknown) => {
        const isStopped = () => signal.aborted;
        if (isStopped()) return;
        log.error({ err: error, delivery: delivery.id }, "a notification was left behind");
        // Of anything else its lease ends, and somebody tells it then.
        if (!(error instanceof DependencyError)) return;
        await askUntilBack(() => DELIVERIES.giveBack(sql, delivery), isStopped).catch(() => undefined);
      })
      .finally(() => {
        this.#inFlight.delete(delivery);
        this.#wakeSoon();
      });
    this.#inFlight.set(delivery, sending);
  }

  /** For what had to wait for its room, or for its turn with the receiver: several ends are one look at what is due. */
  #wakeSoon(): void {
    if (this.#isWaking) return;
    this.#isWaking = true;
    setTimeout(() => {
      this.#isWaking = false;
      this.wake();
    }, ROOM_WAIT_MS);
  }

  #fullOrganizations(): number[] {
    return [...this.#counts(({ organizationId }) => organizationId)]
      .filter(([, count]) => count >= IN_FLIGHT_PER_ORGANIZATION_MAX)
      .map(([organizationId]) => organizationId);
  }

  /** How much is under way, by what it has in common. */
  #counts<K>(by: (delivery: TakenDelivery) => K): Map<K, number> {
    const counts = new Map<K, number>();
    for (const delivery of this.#inFlight.keys())
      counts.set(by(delivery), (counts.get(by(delivery)) ?? 0) + 1);
    return counts;
  }

  async #send(delivery: TakenDelivery, secretsOf: SecretsOf, stopped: AbortSignal): Promise<void> {
    const { sql } = this.#options;
    if (delivery.deaths >= DEATHS_MAX) return this.#settle(delivery, DEADLY, false);
    const rate = rateOf(delivery);
    const sending = { secretsOf, stopped };
    if (rate === null) return this.#tell([delivery], { ...sending, inDigest: false });
    const told = await askPostgres(() => toldSince(sql, delivery.targetHash, rate.perMs));
    if (told.messages < rate.messages) return this.#tell([delivery], { ...sending, inDigest: false });
    const { lastDigestAgeMs } = told;
    if (lastDigestAgeMs !== null && lastDigestAgeMs < DIGEST_EVERY_MS) {
      await askPostgres(() => DELIVERIES.giveBack(sql, delivery, DIGEST_EVERY_MS - lastDigestAgeMs));
      return;
    }
    const rest = await askPostgres(() =>
      takeRestOfTarget(sql, delivery, { max: DIGEST_MAX, leaseMs: LEASE_MS }),
    );
    return this.#tell([delivery, ...rest], { ...sending, inDigest: true });
  }

  /** Tells one receiver of one thing, or of several in one message. */
  async #tell(taken: readonly TakenDelivery[], { secretsOf, stopped, inDigest }: Sending): Promise<void> {
    const { sql, endpoints, ways, now } = this.#options;
    const { deliveries, messages } = await this.#opened(taken);
    const [first] = deliveries;
    const [message] = messages;
    if (first === undefined || message === undefined) return;
    const { target } = message;
    const notification: Notification = digestOf(messages.map((each) => each.notification));
    const context = {
      id: `msg_${first.id}`,
      thread: threadOf(first.targetHash, notification),
      nowMs: now(),
      endpoints,
      secrets: target.channel === "webhook" ? await secretsOf(first.organizationId) : [],
    };
    const outcome = await attempt(target, notification, context, ways, stopped).catch(
      async (error: unknown) => {
        // Whoever sends next need not wait for the lease of one that was told to stop.
        for (const delivery of deliveries) await askPostgres(() => DELIVERIES.giveBack(sql, delivery));
        throw error;
      },
    );
    for (const delivery of deliveries) await this.#settle(delivery, outcome, inDigest);
  }

  /** What is in deliveries. One that cannot be opened, as after a change of the key, never can, and holds up no other. */
  async #opened(
    taken: readonly TakenDelivery[],
  ): Promise<{ deliveries: TakenDelivery[]; messages: Message[] }> {
    const { box } = this.#options;
    const deliveries: TakenDelivery[] = [];
    const messages: Message[] = [];
    for (const delivery of taken) {
      try {
        messages.push(openMessage(box, delivery.organizationId, delivery.sealed));
        deliveries.push(delivery);
      } catch {
        await this.#settle(delivery, UNOPENED, false);
      }
    }
    return { deliveries, messages };
  }

  async #settle(delivery: TakenDelivery, outcome: Outcome, inDigest: boolean): Promise<void> {
    const { sql, metrics, log } = this.#options;
    const { id, channel } = delivery;
    const { code } = outcome;
    if (outcome.kind === "delivered") {
      metrics.deliveries.deliveries.inc({ channel, outcome: "delivered" });
      await this.#ends.add({ delivery, code, inDigest });
      return;
    }
    const { error } = outcome;
    const pauseMs = PAUSES_MS[channel][Math.max(delivery.attempt, 1) - 1];
    const isRefused = outcome.kind === "refused";
    if (isRefused || pauseMs === undefined) {
      metrics.deliveries.deliveries.inc({ channel, outcome: isRefused ? "refused" : "given_up" });
      log.warn({ delivery: id, channel, code, reason: error }, "a notification is given up");
      await askPostgres(() => giveUp(sql, delivery, { code, error }));
      return;
    }
    metrics.deliveries.deliveries.inc({ channel, outcome: "failed" });
    const ownDelayMs = pauseMs * (1 - JITTER + 2 * JITTER * Math.random());
    const delayMs = Math.max(ownDelayMs, outcome.retryAfterMs ?? 0);
    log.info({ delivery: id, channel, code, delayMs, reason: error }, "a notification is tried again");
    await askPostgres(() => noteFailure(sql, delivery, { code, error }));
    await askPostgres(() => DELIVERIES.postpone(sql, delivery, delayMs));
  }
}

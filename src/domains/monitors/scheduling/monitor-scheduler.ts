import type { Sql } from "postgres";
import { WorkLoop } from "../../../concurrency/work-loop.ts";
import { DependencyError } from "../../../errors.ts";
import type { Logger } from "../../../log.ts";
import type { CheckSpec } from "../../../probes/check.ts";
import { CheckThread } from "../../../probes/schedule/check-thread.ts";
import type { SlotResult } from "../../../probes/schedule/schedule.ts";
import { monotonicMs, SlotClock, type SlotTime } from "../../../probes/schedule/slot-clock.ts";
import type { Canary } from "../../../probes/schedule/uplink.ts";
import type { RunnableRow } from "./assignment-store.ts";
import { Assignments } from "./assignments.ts";
import { CommitQueue } from "./commit-queue.ts";
import {
  FIRST_ROUND_AFTER_MS,
  GO_ON_WITHOUT_POSTGRES_MS,
  LEASE_MS,
  RENEW_EVERY_MS,
  ROUND_GRACE_MS,
  STOP_MS,
} from "./limits.ts";
import type { MonitorMetrics } from "./monitor-metrics.ts";
import { monthOf, PLAN_USED_UP } from "./plan-usage.ts";
import { ProbeIntake } from "./probe-intake.ts";
import type { Committed, RoundCommit } from "./round-commit.ts";
import { LOCAL_REGION, type Round, RoundBook } from "./rounds.ts";
import type { ShardLeases } from "./shard-leases.ts";

interface MonitorSchedulerOptions<Row extends RunnableRow> {
  readonly sql: Sql;
  readonly leases: ShardLeases;
  readonly commit: RoundCommit;
  /** What one check of a monitor needs to know. */
  readonly specOf: (row: Row) => CheckSpec;
  /** The program of the thread that makes checks, and what it is begun with. */
  readonly program: URL;
  readonly settings: object;
  readonly canaries: readonly Canary[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly metrics: MonitorMetrics;
  readonly log: Logger;
}

/**
 * Runs the monitors of the shards that this instance holds: hands them to the thread that makes the checks, makes rounds of
 * what comes back, and has them recorded.
 */
export class MonitorScheduler<Row extends RunnableRow = RunnableRow> {
  readonly #options: MonitorSchedulerOptions<Row>;
  readonly #assignments: Assignments<Row>;
  readonly #queue: CommitQueue;
  readonly #rounds = new RoundBook();
  readonly #loop: WorkLoop;
  readonly #intake: ProbeIntake;
  /** Organisations whose checks of the month are used up. */
  readonly #usedUp = new Set<number>();
  #month: string;
  #clock: SlotClock | null = null;
  #thread: CheckThread | null = null;
  #renewedMs = Number.NEGATIVE_INFINITY;
  #isAway = false;

  constructor(options: MonitorSchedulerOptions<Row>) {
    const { commit, log, now } = options;
    this.#options = options;
    this.#month = monthOf(now());
    this.#assignments = new Assignments({
      ...options,
      monotonicNow: monotonicMs,
      isUsedUp: (organizationId) => this.#usedUp.has(organizationId),
    });
    this.#queue = new CommitQueue({
      commit: (rounds) => commit.commit(rounds),
      onCommitted: (committed) => this.#committed(committed),
      log,
    });
    this.#intake = new ProbeIntake({
      ...options,
      shards: () => options.leases.shards,
      report: (...report) => this.#queue.push(this.#rounds.report(...report)),
      openRounds: () => this.#rounds.size,
      closeRounds: () => this.#queue.push(this.#rounds.close(this.#clock?.now() ?? 0)),
    });
    this.#loop = new WorkLoop({
      work: () => this.#turn(),
      pollMs: RENEW_EVERY_MS,
      failure: "monitors could not be shared out",
      log,
    });
  }

  /** The clock of slots; null until the database has said what time it is. */
  get time(): SlotTime | null {
    return this.#clock?.time ?? null;
  }

  start(): void {
    this.#loop.start();
    this.#intake.start();
  }

  /** Results of probes came in. */
  wakeIntake(): void {
    this.#intake.wake();
  }

  /** Monitors were changed. */
  wake(): void {
    this.#loop.wake();
  }

  /** Ends all checks, writes what came of those that ended, and leaves the monitors to others. */
  async stop(): Promise<void> {
    await Promise.all([this.#loop.stop(STOP_MS), this.#intake.stop()]);
    await this.#thread?.stop();
    this.#thread = null;
    await this.#queue.stop(STOP_MS);
    // Without Postgres they are free when their lease is over.
    await this.#options.leases.close().catch(() => undefined);
  }

  /** One round of sharing out. A failure is waited out: the loop must not pause for longer than a lease lasts. */
  async #turn(): Promise<boolean> {
    try {
      await this.#renew();
      if (this.#isAway) this.#options.log.info("monitors are recorded again");
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway) this.#options.log.warn({ err: error }, "monitors cannot be shared out");
      this.#isAway = true;
      // Nobody else has them while the database answers nobody. If it answers others, they have them after a lease.
      if (error instanceof DependencyError && monotonicMs() - this.#renewedMs < GO_ON_WITHOUT_POSTGRES_MS)
        this.#goOn(monotonicMs() + LEASE_MS);
    }
    return false;
  }

  async #renew(): Promise<void> {
    const { leases, metrics } = this.#options;
    const { lost, reading } = await leases.renew();
    this.#renewedMs = monotonicMs();
    for (const shard of lost) this.#rounds.forget(shard);
    this.#beginMonth();
    const surplus = leases.surplus();
    const kept = leases.shards.filter((shard) => !surplus.includes(shard));
    this.#clock ??= new SlotClock(reading.databaseMs, reading.monotonicMs);
    this.#clock.follow(reading.databaseMs, reading.monotonicMs);
    const firstSlotMs = Math.floor(this.#clock.now()) + FIRST_ROUND_AFTER_MS;
    const { assign, drop, latestSlotMs } = await this.#assignments.sync(kept, firstSlotMs);
    this.#clock.reach(latestSlotMs, monotonicMs());
    // A server that watches nothing would keep a thread, and all that checks are made with, for nothing.
    if (assign.length > 0) this.#thread ??= this.#beginThread(this.#clock);
    this.#thread?.drop(drop);
    this.#thread?.assign(assign);
    this.#goOn(leases.untilMs);
    metrics.shards.set(kept.length);
    metrics.roundsWaiting.set(this.#queue.size);
    if (surplus.length === 0) return;
    await this.#queue.settle(STOP_MS);
    await leases.release(surplus);
  }

  #beginThread(clock: SlotClock): CheckThread {
    const thread = new CheckThread({
      ...this.#options,
      time: () => clock.time,
      onResults: (results) => this.#take(results),
      onFault: (message) => this.#options.log.warn({ reason: message }, "a check found nothing out"),
      onDeath: (error, delayMs) =>
        this.#options.log.error(
          { err: error, delayMs },
          "the thread that makes checks died; it is begun anew",
        ),
      onRestart: () => {
        this.#assignments.reset();
        this.wake();
      },
    });
    thread.start();
    return thread;
  }

  /** While what waits has no bound left, no check begins; the slots are recorded as missed. */
  #goOn(untilMs: number): void {
    if (!this.#queue.isFull) this.#thread?.goOn(untilMs);
  }

  #take(results: readonly SlotResult[]): void {
    const isKnown = ({ monitorId }: SlotResult): boolean => this.#assignments.find(monitorId) !== undefined;
    this.#thread?.drop(results.filter((result) => !isKnown(result)).map(({ monitorId }) => monitorId));
    this.#queue.push(results.flatMap((result) => this.#roundsOf(result)));
  }

  #roundsOf({ monitorId, slotMs, nextMs, startedAtMs, lateMs, outcome }: SlotResult): readonly Round[] {
    const assigned = this.#assignments.find(monitorId);
    if (assigned === undefined) return [];
    const { shard, regions, timeoutMs, organizationId } = assigned;
    this.#options.metrics.startLateness.observe(lateMs / 1000);
    const found = this.#usedUp.has(organizationId) ? PLAN_USED_UP : outcome;
    const check = found === null ? null : { region: LOCAL_REGION, startedAtMs, lateMs, outcome: found };
    const round = { monitorId, shard, slotMs, nextMs };
    const isElsewhere = regions.some((region) => region !== LOCAL_REGION);
    if (!isElsewhere || found === PLAN_USED_UP) return [{ ...round, checks: check === null ? [] : [check] }];
    this.#rounds.begin(round, regions, slotMs + timeoutMs + ROUND_GRACE_MS);
    return check === null ? [] : this.#rounds.report(monitorId, slotMs, check);
  }

  #committed({ recorded, gone, usedUp }: Committed): void {
    this.#options.metrics.slots.inc(recorded.length);
    for (const monitorId of gone) this.#assignments.forget(monitorId);
    this.#thread?.drop(gone);
    const news = usedUp.filter((organizationId) => !this.#usedUp.has(organizationId));
    for (const organizationId of news) this.#usedUp.add(organizationId);
    // Nothing is asked any more on their behalf.
    if (news.length > 0) this.#assignAnew();
  }

  #beginMonth(): void {
    const month = monthOf(this.#options.now());
    if (month === this.#month) return;
    this.#month = month;
    if (this.#usedUp.size === 0) return;
    this.#usedUp.clear();
    this.#assignments.reset();
  }

  #assignAnew(): void {
    this.#assignments.reset();
    this.wake();
  }
}

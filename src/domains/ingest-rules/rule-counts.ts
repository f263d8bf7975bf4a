import type { Sql } from "postgres";
import { fulfilledWithin } from "../../concurrency/deadline.ts";
import type { Logger } from "../../log.ts";
import { COUNTS_INTERVAL_MS, COUNTS_PENDING_MAX, COUNTS_SETTLE_MS } from "./limits.ts";
import type { IngestRuleMetrics } from "./rule-metrics.ts";
import { addRuleHours, type RuleHour } from "./store.ts";

const HOUR_MS = 3_600_000;

interface RuleCounterOptions {
  readonly sql: Sql;
  readonly metrics: IngestRuleMetrics;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Counts what rules did, outside the requests: everything of a second is one statement, and one runs at a time. What cannot be
 * written is kept for the next one. A kill loses the counts of the last second.
 */
export class RuleCounter {
  readonly #options: RuleCounterOptions;
  #pending = new Map<string, RuleHour>();
  #writing: Promise<void> | null = null;
  /** Set while somebody waits for everything to be written: nothing is waited for then. */
  #hurry = Promise.withResolvers<void>();
  #isHurrying = false;

  constructor(options: RuleCounterOptions) {
    this.#options = options;
  }

  /** Notes what a rule did just now. */
  add({ organizationId, ruleId, dropped, masked }: Omit<RuleHour, "hour">): void {
    const { metrics, now } = this.#options;
    if (dropped > 0) metrics.entries.inc({ outcome: "dropped" }, dropped);
    if (masked > 0) metrics.entries.inc({ outcome: "masked" }, masked);
    const hour = new Date(Math.floor(now() / HOUR_MS) * HOUR_MS).toISOString();
    this.#note({ organizationId, ruleId, hour, dropped, masked });
    this.#writing ??= this.#writePending();
  }

  /** Writes what is left at once; to be awaited before Postgres is closed. Gives up after `withinMs`. */
  async settled(withinMs = COUNTS_SETTLE_MS): Promise<void> {
    this.#isHurrying = true;
    this.#hurry.resolve();
    if (this.#writing !== null) await fulfilledWithin(this.#writing, withinMs);
    this.#isHurrying = false;
    this.#hurry = Promise.withResolvers();
  }

  #note(done: RuleHour): void {
    const key = `${done.organizationId} ${done.ruleId} ${done.hour}`;
    const earlier = this.#pending.get(key);
    if (earlier === undefined && this.#pending.size >= COUNTS_PENDING_MAX) return;
    this.#pending.set(key, {
      ...done,
      dropped: done.dropped + (earlier?.dropped ?? 0),
      masked: done.masked + (earlier?.masked ?? 0),
    });
  }

  async #writePending(): Promise<void> {
    let failed = false;
    while (this.#pending.size > 0 && !(failed && this.#isHurrying)) {
      // What comes within the interval is written with it.
      await Promise.race([Bun.sleep(COUNTS_INTERVAL_MS), this.#hurry.promise]);
      const hours = this.#pending;
      this.#pending = new Map();
      try {
        // However long it takes: a statement that was given up could still be executed, and counts would double.
        await addRuleHours(this.#options.sql, [...hours.values()]);
        failed = false;
      } catch (error) {
        failed = true;
        this.#options.log.error(
          { err: error, hours: hours.size },
          "what rules did could not be written down yet",
        );
        for (const hour of hours.values()) this.#note(hour);
      }
    }
    this.#writing = null;
  }
}

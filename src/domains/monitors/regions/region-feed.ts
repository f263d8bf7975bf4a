import type { Sql } from "postgres";
import { type EventSource, SSE_COMMENT, sseBlock } from "../../../http/sse.ts";
import type { Logger } from "../../../log.ts";
import type { CheckSpec } from "../../../probes/check.ts";
import type { Assignment } from "../../../probes/schedule/schedule.ts";
import { monotonicMs, type SlotTime, slotTimeAt } from "../../../probes/schedule/slot-clock.ts";
import { slotAfter } from "../../../probes/schedule/slots.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import type { RunnableRow } from "../scheduling/assignment-store.ts";
import { FEED_EVERY_MS, FEED_MAX_ASSIGNMENTS } from "./limits.ts";
import { findOfRegion, listRegionVersions } from "./region-store.ts";

export interface RegionFeedOptions<Row extends RunnableRow> {
  readonly sql: Sql;
  readonly specOf: (row: Row) => CheckSpec;
  /** The clock of slots; null until this server has one. */
  readonly time: () => SlotTime | null;
  readonly log: Logger;
}

/**
 * What one probe is told, as an event stream: `time` with the clock of slots, `assign` with monitors and what is new of them,
 * `drop` with those that it is to let go of, and, when all were named once, `known` with all there are.
 */
export class RegionFeed<Row extends RunnableRow> implements EventSource {
  readonly #options: RegionFeedOptions<Row>;
  readonly #region: string;
  readonly #onEnd: () => void;
  readonly #told = new Map<number, number>();
  readonly #ended = Promise.withResolvers<void>();
  #waiting: string[] = [];
  #hasToldAll = false;
  #isEnded = false;

  constructor(options: RegionFeedOptions<Row>, region: string, onEnd: () => void) {
    this.#options = options;
    this.#region = region;
    this.#onEnd = onEnd;
  }

  async read(): Promise<string | null> {
    for (;;) {
      const next = this.#waiting.shift();
      if (this.#isEnded) return null;
      if (next !== undefined) return next;
      if (this.#hasToldAll) await this.#pause();
      if (this.#isEnded) return null;
      // While Postgres is away the probe goes on with what it knows.
      this.#waiting = await this.#look().catch((error: unknown) => {
        this.#options.log.warn({ err: error }, "what a probe is to check could not be read");
        this.#hasToldAll = true;
        return [SSE_COMMENT];
      });
    }
  }

  cancel(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#ended.resolve();
    this.#onEnd();
  }

  async #pause(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const passed = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FEED_EVERY_MS);
    });
    await Promise.race([passed, this.#ended.promise]);
    clearTimeout(timer);
  }

  /** The events about what has changed since the last look. */
  async #look(): Promise<string[]> {
    const { sql, time } = this.#options;
    const clock = time();
    if (clock === null) {
      this.#hasToldAll = true;
      return [SSE_COMMENT];
    }
    const nowMs = slotTimeAt(clock, monotonicMs());
    const versions = await askPostgres(() => listRegionVersions(sql, this.#region));
    const dropped = [...this.#told.keys()].filter((id) => !versions.has(id));
    for (const id of dropped) this.#told.delete(id);
    const changed = [...versions.keys()].filter((id) => this.#told.get(id) !== versions.get(id));
    const events = [event("time", { slotMs: nowMs, region: this.#region })];
    if (dropped.length > 0) events.push(event("drop", { monitorIds: dropped }));
    for (let from = 0; from < changed.length; from += FEED_MAX_ASSIGNMENTS) {
      const ids = changed.slice(from, from + FEED_MAX_ASSIGNMENTS);
      const rows = await askPostgres(() => findOfRegion<Row>(sql, this.#region, ids));
      events.push(event("assign", { assignments: rows.flatMap((row) => this.#assign(row, nowMs)) }));
    }
    // Those that have no first slot yet are told the next time.
    const isComplete = [...versions.keys()].every((id) => this.#told.has(id));
    if (isComplete || this.#hasToldAll) events.push(event("known", { monitorIds: [...versions.keys()] }));
    this.#hasToldAll = true;
    return events;
  }

  #assign(row: Row, nowMs: number): Assignment[] {
    const monitorId = Number(row.id);
    const dueMs = Number(row.next_slot);
    // Its first slot is announced by whoever runs it, for all regions.
    if (dueMs === 0) return [];
    this.#told.set(monitorId, row.updated_at.getTime());
    const grid = { monitorId, intervalMs: row.interval_sec * 1000 };
    try {
      const check = this.#options.specOf(row);
      return [{ ...grid, retryMs: null, dueMs: dueMs > nowMs ? dueMs : slotAfter(grid, nowMs), check }];
    } catch (error) {
      this.#options.log.error({ monitorId, err: error }, "a monitor cannot be checked by probes");
      return [];
    }
  }
}

function event(name: string, data: object): string {
  return sseBlock({ event: name, data: JSON.stringify(data) });
}

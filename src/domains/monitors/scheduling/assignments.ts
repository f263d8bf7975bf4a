import type { Sql } from "postgres";
import type { Logger } from "../../../log.ts";
import type { CheckSpec } from "../../../probes/check.ts";
import type { Assignment } from "../../../probes/schedule/schedule.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import {
  announceFirstSlot,
  findRunnable,
  listVersions,
  type MonitorVersion,
  type RunnableRow,
} from "./assignment-store.ts";
import { ASSIGN_MAX_ROWS, CHANGES_OVERLAP_MS, COMPARE_EVERY_MS, STEPS_TIMEOUT_MS } from "./limits.ts";
import { LOCAL_REGION } from "./rounds.ts";

/** What is known here of a monitor that this instance runs. */
interface Assigned {
  readonly organizationId: number;
  readonly shard: number;
  readonly updatedAtMs: number;
  readonly resumedAtMs: number | null;
  /** Where it is checked. */
  readonly regions: readonly string[];
  /** The longest that a check may take. */
  readonly timeoutMs: number;
}

interface AssignmentsOptions<Row extends RunnableRow> {
  readonly sql: Sql;
  /** What one check needs to know. */
  readonly specOf: (row: Row) => CheckSpec;
  /** Whether the plan allows an organisation no more checks this month. */
  readonly isUsedUp: (organizationId: number) => boolean;
  readonly monotonicNow: () => number;
  readonly log: Logger;
}

/** What has changed of the monitors that are to be run. */
interface AssignmentChanges {
  readonly assign: readonly Assignment[];
  readonly drop: readonly number[];
  /** The latest slot that is recorded of one of them: nothing is due before it. */
  readonly latestSlotMs: number;
}

/** The monitors of the shards that this instance runs, as the database has them a moment ago. */
export class Assignments<Row extends RunnableRow = RunnableRow> {
  readonly #options: AssignmentsOptions<Row>;
  readonly #assigned = new Map<number, Assigned>();
  #shards: ReadonlySet<number> = new Set();
  #comparedMs = Number.NEGATIVE_INFINITY;
  #latestChangeMs = 0;
  /** When that was seen, by the monotonic clock: whoever made it has a clock that went on since. */
  #latestSeenMs = 0;

  constructor(options: AssignmentsOptions<Row>) {
    this.#options = options;
  }

  get size(): number {
    return this.#assigned.size;
  }

  find(monitorId: number): Assigned | undefined {
    return this.#assigned.get(monitorId);
  }

  /** Forgets a monitor, which is found again if it is still to be run. */
  forget(monitorId: number): void {
    this.#assigned.delete(monitorId);
  }

  /** Forgets everything, so that it is all assigned again. */
  reset(): void {
    this.#assigned.clear();
    this.#comparedMs = Number.NEGATIVE_INFINITY;
  }

  /** Looks what is to be run of these shards. New monitors of several regions begin with `firstSlotMs`, all at once. */
  async sync(shards: readonly number[], firstSlotMs: number): Promise<AssignmentChanges> {
    const { sql, monotonicNow } = this.#options;
    const drop = this.#dropOthers(new Set(shards));
    const nowMs = monotonicNow();
    const isNew = shards.some((shard) => !this.#shards.has(shard));
    const isCompared = isNew || nowMs - this.#comparedMs >= COMPARE_EVERY_MS;
    const sinceMs = isCompared
      ? null
      : this.#latestChangeMs + (nowMs - this.#latestSeenMs) - CHANGES_OVERLAP_MS;
    const versions = shards.length === 0 ? [] : await askPostgres(() => listVersions(sql, shards, sinceMs));
    drop.push(...this.#dropStopped(versions, isCompared));
    const changed = versions.filter(({ monitorId, updatedAtMs, isRun }) => {
      const known = this.#assigned.get(monitorId);
      return isRun && known?.updatedAtMs !== updatedAtMs;
    });
    const rows = await this.#read(changed.map(({ monitorId }) => monitorId));
    drop.push(...rows.filter((row) => this.#isResumed(row)).map(({ id }) => Number(id)));
    const announced = rows
      .filter((row) => row.next_slot === "0" && isRemote(row))
      .map(({ id }) => Number(id));
    if (announced.length > 0)
      await askPostgres(() => announceFirstSlot(this.#options.sql, announced, firstSlotMs));
    const assign = rows.flatMap((row) =>
      this.#assign(row, row.next_slot === "0" && isRemote(row) ? firstSlotMs : Number(row.next_slot)),
    );
    this.#shards = new Set(shards);
    if (isCompared) this.#comparedMs = nowMs;
    for (const { updatedAtMs } of versions) {
      if (updatedAtMs <= this.#latestChangeMs) continue;
      this.#latestChangeMs = updatedAtMs;
      this.#latestSeenMs = nowMs;
    }
    const latestSlotMs = rows.reduce((latest, { last_slot }) => Math.max(latest, Number(last_slot)), 0);
    return { assign, drop, latestSlotMs };
  }

  #dropOthers(shards: ReadonlySet<number>): number[] {
    const dropped = [...this.#assigned].filter(([, { shard }]) => !shards.has(shard)).map(([id]) => id);
    for (const id of dropped) this.#assigned.delete(id);
    return dropped;
  }

  #dropStopped(versions: readonly MonitorVersion[], areAll: boolean): number[] {
    const stopped = versions.filter(({ isRun }) => !isRun).map(({ monitorId }) => monitorId);
    const there = areAll ? new Set(versions.map(({ monitorId }) => monitorId)) : null;
    const gone = there === null ? [] : [...this.#assigned.keys()].filter((id) => !there.has(id));
    return [...stopped, ...gone].filter((id) => this.#assigned.delete(id));
  }

  /** Paused and resumed since it was looked at: it begins anew, at once. */
  #isResumed({ id, resumed_at }: Row): boolean {
    const known = this.#assigned.get(Number(id));
    return known !== undefined && known.resumedAtMs !== (resumed_at?.getTime() ?? null);
  }

  async #read(monitorIds: readonly number[]): Promise<Row[]> {
    const rows: Row[] = [];
    for (let from = 0; from < monitorIds.length; from += ASSIGN_MAX_ROWS) {
      const ids = monitorIds.slice(from, from + ASSIGN_MAX_ROWS);
      rows.push(...(await askPostgres(() => findRunnable<Row>(this.#options.sql, ids))));
    }
    return rows;
  }

  #assign(row: Row, dueMs: number): Assignment[] {
    const monitorId = Number(row.id);
    const regions = row.regions ?? [LOCAL_REGION];
    this.#assigned.set(monitorId, {
      organizationId: row.organization_id,
      shard: row.shard,
      updatedAtMs: row.updated_at.getTime(),
      resumedAtMs: row.resumed_at?.getTime() ?? null,
      regions,
      timeoutMs: row.type === "multi_step" ? STEPS_TIMEOUT_MS : row.timeout_ms,
    });
    const { specOf, isUsedUp } = this.#options;
    const isChecked = regions.includes(LOCAL_REGION) && !isUsedUp(row.organization_id);
    const retrySec = isRemote(row) ? null : row.retry_interval_sec;
    try {
      return [
        {
          monitorId,
          intervalMs: row.interval_sec * 1000,
          // Regions keep to the same slots, which those of one that fails alone would not.
          retryMs: retrySec === null ? null : retrySec * 1000,
          dueMs,
          check: isChecked ? specOf(row) : null,
        },
      ];
    } catch (error) {
      // Sealed with another key. It is looked at again when somebody changes it.
      this.#options.log.error({ monitorId, err: error }, "a monitor cannot be run");
      return [];
    }
  }
}

function isRemote({ regions }: RunnableRow): boolean {
  return regions?.some((region) => region !== LOCAL_REGION) === true;
}

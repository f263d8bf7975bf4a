import type { Sql } from "postgres";
import { fulfilledWithin } from "../../concurrency/deadline.ts";
import type { Logger } from "../../log.ts";
import type { Received } from "../../receive/receive-records.ts";
import { FailureStreaks } from "./failure-streaks.ts";
import {
  ACTIVITY_INTERVAL_MS,
  ACTIVITY_PENDING_MAX,
  ACTIVITY_SETTLE_MS,
  SAMPLE_INTERVAL_MS,
  SAMPLED_SOURCES_MAX,
  SAMPLES_MAX,
} from "./limits.ts";
import type { CompiledSource } from "./source-directory.ts";
import { type ActivityRow, addActivity } from "./store.ts";
import type { StoredSample } from "./types.ts";

interface SourceActivityOptions {
  readonly sql: Sql;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Counts what sources receive and moves them between active and error, outside the requests: everything of a second is
 * one statement, and one runs at a time. What cannot be written is kept for the next one. A kill loses the counts of the
 * last second, never a record.
 */
export class SourceActivity {
  readonly #options: SourceActivityOptions;
  readonly #streaks = new FailureStreaks();
  #pending = new Map<number, ActivityRow>();
  /** The latest samples of learning sources, and when the last was taken. */
  readonly #samples = new Map<
    number,
    { readonly takenAtMs: number; readonly samples: readonly StoredSample[] }
  >();
  #writing: Promise<void> | null = null;
  /** Set while somebody waits for everything to be written: nothing is waited for then. */
  #hurry = Promise.withResolvers<void>();
  #isHurrying = false;

  constructor(options: SourceActivityOptions) {
    this.#options = options;
  }

  /** Records what came of a request. `texts` are records of it as they came, while the source is learning. */
  record(source: CompiledSource, received: Received, texts: readonly string[]): void {
    if (received.replayed) return;
    const { id, organizationId, version } = source;
    const earlier = this.#pending.get(id);
    if (earlier === undefined && this.#pending.size >= ACTIVITY_PENDING_MAX) return;
    const { accepted, rejected, quarantined, errors } = received;
    const failed = rejected + quarantined;
    const failing = this.#streaks.record(`${id} ${version}`, {
      accepted,
      failed,
      reason: errors.at(-1)?.reason,
    });
    const samples = this.#sample(id, texts);
    const row: ActivityRow = {
      id,
      organizationId,
      lastReceivedAtMs: this.#options.now(),
      accepted,
      rejected,
      quarantined,
      samples,
      move: moveOf(source.status, version, accepted, failing),
    };
    this.#pending.set(id, earlier === undefined ? row : together(earlier, row));
    this.#writing ??= this.#writePending();
  }

  /** Writes what is left at once; to be awaited before Postgres is closed. Gives up after `withinMs`. */
  async settled(withinMs = ACTIVITY_SETTLE_MS): Promise<void> {
    this.#isHurrying = true;
    this.#hurry.resolve();
    if (this.#writing !== null) await fulfilledWithin(this.#writing, withinMs);
    this.#isHurrying = false;
    this.#hurry = Promise.withResolvers();
  }

  #sample(id: number, texts: readonly string[]): readonly StoredSample[] | null {
    if (texts.length === 0) return null;
    const nowMs = this.#options.now();
    const known = this.#samples.get(id);
    if (known !== undefined && nowMs - known.takenAtMs < SAMPLE_INTERVAL_MS) return null;
    const receivedAt = new Date(nowMs).toISOString();
    const fresh = texts.map((text) => ({ receivedAt, text }));
    const samples = [...fresh, ...(known?.samples ?? [])].slice(0, SAMPLES_MAX);
    this.#samples.delete(id);
    this.#samples.set(id, { takenAtMs: nowMs, samples });
    for (const oldest of this.#samples.keys()) {
      if (this.#samples.size <= SAMPLED_SOURCES_MAX) break;
      this.#samples.delete(oldest);
    }
    return samples;
  }

  async #writePending(): Promise<void> {
    let failed = false;
    while (this.#pending.size > 0 && !(failed && this.#isHurrying)) {
      // What comes within the interval is written with it.
      await Promise.race([Bun.sleep(ACTIVITY_INTERVAL_MS), this.#hurry.promise]);
      const rows = this.#pending;
      this.#pending = new Map();
      try {
        // However long it takes: a statement that was given up could still be executed, and counts would double.
        await addActivity(this.#options.sql, [...rows.values()]);
        failed = false;
      } catch (error) {
        failed = true;
        this.#options.log.error(
          { err: error, sources: rows.size },
          "what sources received could not be written down yet",
        );
        this.#keep(rows);
      }
    }
    this.#writing = null;
  }

  /** Puts back what was not written, without the samples, which are large. */
  #keep(rows: ReadonlyMap<number, ActivityRow>): void {
    for (const [id, row] of rows) {
      const earlier = { ...row, samples: null };
      const later = this.#pending.get(id);
      if (later !== undefined) this.#pending.set(id, together(earlier, later));
      else if (this.#pending.size < ACTIVITY_PENDING_MAX) this.#pending.set(id, earlier);
    }
  }
}

/** A source that keeps failing is in error until its records can be mapped again. */
function moveOf(
  status: CompiledSource["status"],
  version: string,
  accepted: number,
  failing: string | null,
): ActivityRow["move"] {
  if (status === "active" && failing !== null) return { version, to: "error", reason: failing };
  if (status === "error" && accepted > 0) return { version, to: "active", reason: null };
  return null;
}

function together(earlier: ActivityRow, later: ActivityRow): ActivityRow {
  return {
    ...later,
    accepted: earlier.accepted + later.accepted,
    rejected: earlier.rejected + later.rejected,
    quarantined: earlier.quarantined + later.quarantined,
    samples: later.samples ?? earlier.samples,
    // Records that could be mapped after all end what would have been an error.
    move: later.accepted > 0 ? later.move : (later.move ?? earlier.move),
  };
}

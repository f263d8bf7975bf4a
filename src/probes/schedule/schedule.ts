import type { CheckOutcome, CheckSpec, RunCheck } from "../check.ts";
import { DueHeap } from "./due-heap.ts";
import { TIMER_MAX_MS } from "./limits.ts";
import { type SlotTime, slotTimeAt } from "./slot-clock.ts";
import { latestDue, nextSlot, type SlotGrid, slotAfter } from "./slots.ts";

/** A monitor that is checked here. Data, so that it goes to another thread or another machine. */
export interface Assignment extends SlotGrid {
  /** How soon after a failure it is checked again; null is the interval. */
  readonly retryMs: number | null;
  /** When it is due next; 0 is at once. */
  readonly dueMs: number;
  /** Null where nothing is asked from here; the slot is told all the same. */
  readonly check: CheckSpec | null;
}

/** What came of one slot. */
export interface SlotResult {
  readonly monitorId: number;
  readonly slotMs: number;
  /** When the monitor is due again. */
  readonly nextMs: number;
  /** By the clock that the slots follow. */
  readonly startedAtMs: number;
  /** How long after its slot it began. */
  readonly lateMs: number;
  /** Null where nothing was asked. */
  readonly outcome: CheckOutcome | null;
}

interface ScheduleOptions {
  readonly run: RunCheck;
  readonly onResult: (result: SlotResult) => void;
  readonly maxInFlight: number;
  readonly time: SlotTime;
  /** The monotonic clock that `time` was read by. */
  readonly monotonicNow: () => number;
  /** For tests: calls `act` after so many milliseconds, once; answers how to have it not called. */
  readonly setTimer?: (act: () => void, delayMs: number) => () => void;
}

interface Entry {
  assignment: Assignment;
  dueMs: number;
  version: number;
}

/**
 * Starts checks at their slots: one heap, one timer. A monitor is never checked twice at a time. One whose check could not
 * begin before its next slot goes on with that; whoever writes results down sees which slots are between.
 */
export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #entries = new Map<number, Entry>();
  readonly #heap = new DueHeap();
  /** Those that are due while too many run, in the order of their slots. */
  readonly #waiting: number[] = [];
  readonly #monotonicNow: () => number;
  #time: SlotTime;
  #mayStartUntilMs = Number.NEGATIVE_INFINITY;
  /** Monitors whose check runs, also those that were let go of meanwhile. */
  readonly #running = new Set<number>();
  #versions = 0;
  #cancelTimer: (() => void) | null = null;

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.#time = options.time;
    this.#monotonicNow = options.monotonicNow;
  }

  /** Takes a monitor, or what has changed of it. The slots of one that is known stay unless the change concerns them. */
  assign(assignment: Assignment): void {
    const known = this.#entries.get(assignment.monitorId);
    if (known === undefined) {
      const entry = { assignment, dueMs: assignment.dueMs, version: 0 };
      this.#entries.set(assignment.monitorId, entry);
      this.#enter(entry, assignment.dueMs === 0 ? this.#now() : assignment.dueMs);
    } else {
      const isOtherGrid = known.assignment.intervalMs !== assignment.intervalMs;
      known.assignment = assignment;
      if (isOtherGrid && !this.#running.has(assignment.monitorId))
        this.#enter(known, slotAfter(assignment, this.#now()));
    }
    this.#arm();
  }

  /** Lets go of a monitor; what comes of its check that runs is told to nobody. */
  drop(monitorId: number): void {
    this.#entries.delete(monitorId);
  }

  /** Sets the clock of slots, and until when, by the monotonic clock, checks may begin. */
  goOn(time: SlotTime, mayStartUntilMs: number): void {
    this.#time = time;
    this.#mayStartUntilMs = mayStartUntilMs;
    this.#tick();
  }

  stop(): void {
    this.#entries.clear();
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #now(): number {
    return slotTimeAt(this.#time, this.#monotonicNow());
  }

  #enter(entry: Entry, dueMs: number): void {
    this.#versions += 1;
    entry.version = this.#versions;
    entry.dueMs = dueMs;
    this.#heap.push({ atMs: dueMs, monitorId: entry.assignment.monitorId, version: entry.version });
  }

  #tick(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (this.#monotonicNow() > this.#mayStartUntilMs) return;
    for (let due = this.#heap.peek(); due !== undefined && due.atMs <= this.#now(); due = this.#heap.peek()) {
      this.#heap.pop();
      if (this.#entries.get(due.monitorId)?.version === due.version) this.#begin(due.monitorId);
    }
    this.#arm();
  }

  #arm(): void {
    const due = this.#heap.peek();
    if (due === undefined) return;
    this.#cancelTimer?.();
    const delayMs = Math.max(0, Math.min((due.atMs - this.#now()) / this.#time.rate, TIMER_MAX_MS));
    const setTimer = this.#options.setTimer ?? setTimerOfSystem;
    this.#cancelTimer = setTimer(() => this.#tick(), delayMs);
  }

  #begin(monitorId: number): void {
    const entry = this.#entries.get(monitorId);
    // One that was let go of and comes again waits for the end of the check that runs still.
    if (entry === undefined || this.#running.has(monitorId)) return;
    if (this.#running.size >= this.#options.maxInFlight) {
      this.#waiting.push(monitorId);
      return;
    }
    void this.#check(entry);
  }

  async #check(entry: Entry): Promise<void> {
    const { assignment } = entry;
    const { monitorId, check, retryMs } = assignment;
    const beganMs = this.#now();
    const { leadMs } = this.#time;
    const slotMs = Math.floor(latestDue(assignment, entry.dueMs, beganMs));
    this.#running.add(monitorId);
    const outcome = check === null ? null : await this.#options.run(check);
    this.#running.delete(monitorId);
    const present = this.#entries.get(monitorId);
    if (present !== undefined && present !== entry) this.#enter(present, present.dueMs);
    if (present === entry) {
      const failed = outcome?.status === "down" ? { retryMs, nowMs: this.#now() } : null;
      const nextMs = nextSlot(entry.assignment, slotMs, failed);
      this.#enter(entry, nextMs);
      const startedAtMs = Math.floor(beganMs - leadMs);
      this.#options.onResult({
        monitorId,
        slotMs,
        nextMs,
        startedAtMs,
        lateMs: beganMs - slotMs,
        outcome,
      });
    }
    this.#startWaiting();
    this.#arm();
  }

  #startWaiting(): void {
    if (this.#monotonicNow() > this.#mayStartUntilMs) {
      // They are due still, and begin when they may.
      for (const monitorId of this.#waiting.splice(0)) {
        const entry = this.#entries.get(monitorId);
        if (entry !== undefined && !this.#running.has(monitorId)) this.#enter(entry, entry.dueMs);
      }
      return;
    }
    const next = this.#waiting.shift();
    if (next !== undefined) this.#begin(next);
  }
}

function setTimerOfSystem(act: () => void, delayMs: number): () => void {
  const timer = setTimeout(act, delayMs);
  return () => clearTimeout(timer);
}

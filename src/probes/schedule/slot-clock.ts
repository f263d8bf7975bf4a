import { CLOCK_SLEW_MAX, CLOCK_SLEW_MS, CLOCK_STEP_MS } from "./limits.ts";

/** Where a clock of slots stood at a reading of a monotonic clock, and how fast it goes. Data, so that it goes to other threads. */
export interface SlotTime {
  readonly slotMs: number;
  readonly monotonicMs: number;
  /** Milliseconds of slots in one of the monotonic clock. */
  readonly rate: number;
  /** What the clock is ahead of the one it follows. */
  readonly leadMs: number;
}

/** Milliseconds that no setting of a clock changes, since this thread began: those of another thread are others. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** What the clock says at a reading of the monotonic one. */
export function slotTimeAt(time: SlotTime, atMonotonicMs: number): number {
  return time.slotMs + (atMonotonicMs - time.monotonicMs) * time.rate;
}

/**
 * The clock that slots are due by. It follows that of the database and never goes back: a clock that is set forward takes
 * it along, behind one that is set back it goes slower until it has been caught up with. So no slot is due twice, and
 * checks go on whatever somebody sets.
 */
export class SlotClock {
  #time: SlotTime;

  constructor(otherMs: number, atMonotonicMs: number) {
    this.#time = { slotMs: otherMs, monotonicMs: atMonotonicMs, rate: 1, leadMs: 0 };
  }

  get time(): SlotTime {
    return this.#time;
  }

  now(atMonotonicMs = monotonicMs()): number {
    return slotTimeAt(this.#time, atMonotonicMs);
  }

  /** Tells what the followed clock said at a reading of the monotonic one. */
  follow(otherMs: number, atMonotonicMs: number): void {
    const behindMs = otherMs - this.now(atMonotonicMs);
    const slotMs = this.now(atMonotonicMs) + (behindMs > CLOCK_STEP_MS ? behindMs : 0);
    const wanted = (otherMs - slotMs) / CLOCK_SLEW_MS;
    const rate = 1 + Math.max(-CLOCK_SLEW_MAX, Math.min(CLOCK_SLEW_MAX, wanted));
    this.#time = { slotMs, monotonicMs: atMonotonicMs, rate, leadMs: slotMs - otherMs };
  }

  /** Goes on from a slot that was recorded already, by somebody whose clock was ahead. */
  reach(slotMs: number, atMonotonicMs: number): void {
    const ahead = slotMs - this.now(atMonotonicMs);
    if (ahead <= 0) return;
    const { rate, leadMs } = this.#time;
    this.#time = { slotMs, monotonicMs: atMonotonicMs, rate, leadMs: leadMs + ahead };
  }
}

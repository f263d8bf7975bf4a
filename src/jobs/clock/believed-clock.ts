import type { Sql } from "postgres";
import type { BootTime } from "./boot-clock.ts";

interface BelievedClockOptions {
  readonly sql: Sql;
  /** The machine's clock, milliseconds since 1970, which may be wrong. */
  readonly now: () => number;
  readonly bootTime: () => BootTime;
  /** A time that an operator says is past; null when nobody did. */
  readonly confirmedMs: number | null;
}

/** Milliseconds since 1970 that were believed at a reading of a clock that nobody can set. */
interface Belief extends BootTime {
  readonly believedMs: number;
}

interface Row {
  believed_at: Date;
  boot: string;
  boot_clock_ms: string;
}

/**
 * The time by which log entries age, for all servers that share the database. It is never ahead of the machine's clock,
 * and goes on by no more than the time that is known to have passed: a clock that is set forward ages nothing. What
 * passed while no server ran and the machine was off is not known; entries then stay so much longer, unless an operator
 * confirms the time.
 */
export class BelievedClock {
  readonly #options: BelievedClockOptions;
  #latest: Belief | null = null;

  constructor(options: BelievedClockOptions) {
    this.#options = options;
  }

  /** The time that is believed now; it is kept for whoever asks next. */
  async read(): Promise<number> {
    const { sql, now } = this.#options;
    const belief = await sql.begin(async (tx) => {
      await tx`
        INSERT INTO believed_clock (believed_at, boot, boot_clock_ms) VALUES (${new Date(now())}, '', 0)
        ON CONFLICT DO NOTHING`;
      const [row] = await tx<Row[]>`SELECT believed_at, boot, boot_clock_ms FROM believed_clock FOR UPDATE`;
      if (row === undefined) throw new Error("the believed time is gone");
      const next = this.#advance(beliefOf(row));
      await tx`
        UPDATE believed_clock
        SET believed_at = ${new Date(next.believedMs)}, boot = ${next.boot}, boot_clock_ms = ${Math.floor(next.ms)}`;
      return next;
    });
    this.#latest = belief;
    return Math.min(belief.believedMs, now());
  }

  /** What can be believed now, by what was believed last in the database and here. */
  #advance(kept: Belief): Belief {
    const { now, bootTime, confirmedMs } = this.#options;
    const reading = bootTime();
    const known = [kept, this.#latest].map((belief) => (belief === null ? 0 : later(belief, reading)));
    const believedMs = Math.min(now(), Math.max(...known, confirmedMs ?? 0));
    // A clock that is set back does not undo what is known.
    return { believedMs: Math.max(kept.believedMs, believedMs), ...reading };
  }
}

/** What was believed, and what has passed since as far as the clock tells. */
function later({ believedMs, boot, ms }: Belief, reading: BootTime): number {
  return boot === reading.boot ? believedMs + Math.max(0, reading.ms - ms) : believedMs;
}

function beliefOf(row: Row): Belief {
  return { believedMs: row.believed_at.getTime(), boot: row.boot, ms: Number(row.boot_clock_ms) };
}

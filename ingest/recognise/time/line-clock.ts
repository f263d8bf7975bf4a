import { daysFromEpoch, daysInMonth } from "../../timestamp.ts";
import { LocalZone } from "./local-zone.ts";
import { StampReader } from "./stamp-reader.ts";

/** A point in time. */
export interface Instant {
  /** Since 1970. */
  readonly seconds: number;
  /** From 0 to 999 999 999. */
  readonly nanos: number;
}

export interface LineClockOptions {
  /** Of times that name none: `+02:00`, `UTC`, `Europe/Berlin`. */
  readonly zone?: string;
  /**
   * Milliseconds since 1970 by which the last line was written: when the file was changed last, or now. A time without a
   * year is of the newest year that does not bring it further behind this than clocks are wrong.
   */
  readonly yearReferenceMs: number;
}

const DAY_SECONDS = 86_400;
/** Zones are up to 14 hours ahead, and clocks are wrong by hours. */
const AHEAD_MAX_SECONDS = 2 * DAY_SECONDS;
/** Across the turn of a century that is no leap year, eight years lie between two leap days. */
const LEAP_YEARS = 8;

/** Reads the times of lines and makes them points in time. */
export class LineClock {
  readonly stamp = new StampReader();
  /** Times whose zone was taken from the options, and those whose year was. */
  withoutZone = 0;
  withoutYear = 0;
  readonly #zone: LocalZone;
  readonly #latest: number;

  /** Throws RangeError for a zone that nobody knows. */
  constructor({ zone = "UTC", yearReferenceMs }: LineClockOptions) {
    const local = LocalZone.of(zone);
    if (local === null) throw new RangeError(`${zone} is no time zone`);
    this.#zone = local;
    this.#latest = yearReferenceMs / 1000 + AHEAD_MAX_SECONDS;
  }

  /** The time at a place of a text, whose end is then `stamp.end`; null when there is none. */
  read(text: string, at: number): Instant | null {
    return this.stamp.read(text, at) ? this.instant() : null;
  }

  /** What `stamp` has read. */
  instant(): Instant | null {
    const { stamp } = this;
    const clock = stamp.hasYear ? stamp.clockSeconds : this.#inLikeliestYear();
    if (clock === null) return null;
    if (!stamp.hasYear) this.withoutYear++;
    if (stamp.east !== null) return { seconds: clock - stamp.east, nanos: stamp.nanos };
    this.withoutZone++;
    return { seconds: this.#zone.utcSeconds(clock), nanos: stamp.nanos };
  }

  #inLikeliestYear(): number | null {
    const { month, day, ofDay } = this.stamp;
    const latestYear = new Date(this.#latest * 1000).getUTCFullYear();
    for (let year = latestYear; year >= latestYear - LEAP_YEARS; year--) {
      if (day > daysInMonth(year, month)) continue;
      const clock = daysFromEpoch(year, month, day) * DAY_SECONDS + ofDay;
      if (this.#zone.utcSeconds(clock) <= this.#latest) return clock;
    }
    return null;
  }
}

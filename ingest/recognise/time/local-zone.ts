import { zoneOffset } from "../../decode/syslog/time-zones.ts";

/** Seconds for which an offset is looked up once: all zones change theirs at a multiple of a quarter of an hour. */
const BLOCK_SECONDS = 900;

/** The zone that times count in which name none. */
export class LocalZone {
  readonly #offsetAt: (utcSeconds: number) => number;
  #block = Number.NaN;
  #blockOffset = 0;

  private constructor(offsetAt: (utcSeconds: number) => number) {
    this.#offsetAt = offsetAt;
  }

  /** By an offset (`+02:00`), an abbreviation (`UTC`) or a name of the IANA database (`Europe/Berlin`); null for any other. */
  static of(name: string): LocalZone | null {
    const east = zoneOffset(name);
    if (east !== null) return new LocalZone(() => east);
    try {
      const format = new Intl.DateTimeFormat("en-US", {
        timeZone: name,
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      });
      return new LocalZone((utcSeconds) => offsetOf(format, utcSeconds));
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }

  /**
   * Seconds since 1970 of a clock's time, itself given as if it were UTC. Of an hour that comes twice it is the first,
   * of one that is left out the clock that had not been set yet.
   */
  utcSeconds(clockSeconds: number): number {
    const block = Math.floor(clockSeconds / BLOCK_SECONDS);
    if (block !== this.#block) {
      this.#block = block;
      this.#blockOffset = this.#offsetOfClock(block * BLOCK_SECONDS);
    }
    return clockSeconds - this.#blockOffset;
  }

  #offsetOfClock(clockSeconds: number): number {
    // A day before and after, whatever changes in between is found.
    const before = this.#offsetAt(clockSeconds - 86_400);
    if (this.#offsetAt(clockSeconds - before) === before) return before;
    const after = this.#offsetAt(clockSeconds + 86_400);
    return this.#offsetAt(clockSeconds - after) === after ? after : before;
  }
}

function offsetOf(format: Intl.DateTimeFormat, utcSeconds: number): number {
  const parts = new Map(
    format.formatToParts(utcSeconds * 1000).map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const clockMs = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
  return clockMs / 1000 - utcSeconds;
}

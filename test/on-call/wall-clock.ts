const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
const DAY_MINUTES = 1440;
/** Changes of the clocks are looked for between these, and some of them taken. */
const FIRST_MS = Date.UTC(2010, 0, 1);
const LAST_MS = Date.UTC(2029, 0, 1);

/** A place at which clocks are put forward: the first minute after it, and what they showed around it. */
interface Jump {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

/** What the clocks of a zone show in each minute of some days, asked of `Intl` alone. */
export class WallClock {
  readonly startMs: number;
  /** Of the window. */
  readonly minutes: number;
  /** Of each minute of the window, what the clocks show, in minutes since 1970. */
  readonly #shown: readonly number[];
  readonly #firstShown = new Map<number, number>();
  readonly #jumps: readonly Jump[];

  constructor(format: Intl.DateTimeFormat, startMs: number, days: number) {
    this.startMs = startMs;
    this.minutes = (days * DAY_MS) / MINUTE_MS;
    this.#shown = Array.from({ length: this.minutes }, (_, at) =>
      localMinute(format.format(startMs + at * MINUTE_MS)),
    );
    for (const [at, shown] of this.#shown.entries())
      if (!this.#firstShown.has(shown)) this.#firstShown.set(shown, at);
    this.#jumps = this.#shown.flatMap((after, at) => {
      const before = this.#shown[at - 1] ?? after;
      return after > before + 1 ? [{ at, before, after }] : [];
    });
  }

  /** The days of the calendar from that of a minute on, also those that the zone leaves out; each is its first minute. */
  daysFrom(minute: number): number[] {
    const shown = this.#shown[minute] ?? 0;
    const first = shown - (shown % DAY_MINUTES);
    const count = Math.ceil((this.minutes - minute) / DAY_MINUTES) + 1;
    return Array.from({ length: count }, (_, nth) => first + nth * DAY_MINUTES);
  }

  /**
   * The first minute that shows a time. Where the clocks leave it out, it is as much later as they jump: the minute that
   * shows what the clocks of before the jump would have shown then. -1 outside of the window.
   */
  minuteOf(wanted: number): number {
    const found = this.#firstShown.get(wanted);
    if (found !== undefined) return found;
    const jump = this.#jumps.find(({ before, after }) => before < wanted && after > wanted);
    return jump === undefined ? -1 : jump.at + (wanted - jump.before) - 1;
  }
}

/** Windows of a zone, at most so many: around changes of its clocks, or of any days where they never change. */
export function wallClocksOf(timezone: string, days: number, max: number): WallClock[] {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: timezone,
    dateStyle: "short",
    timeStyle: "short",
  });
  const offset = (at: number): number => localMinute(format.format(at)) - Math.floor(at / MINUTE_MS);
  const changes: number[] = [];
  let before = offset(FIRST_MS);
  for (let at = FIRST_MS; at < LAST_MS; at += WEEK_MS) {
    const after = offset(at + WEEK_MS);
    for (let day = at; before !== after; day += DAY_MS) {
      if (offset(day + DAY_MS) === before) continue;
      changes.push(day);
      before = after;
    }
  }
  const every = Math.max(1, Math.floor(changes.length / max));
  const chosen = changes.filter((_, nth) => nth % every === 0).slice(0, max);
  const starts = chosen.length === 0 ? [Date.UTC(2026, 2, 1)] : chosen.map((at) => at - 2 * DAY_MS);
  return starts.map((startMs) => new WallClock(format, startMs, days));
}

/** Minutes since 1970 by a calendar and a clock, whatever the zone. */
function localMinute(shown: string): number {
  return Math.floor(Date.parse(`${shown.replace(" ", "T")}:00Z`) / MINUTE_MS);
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** Changes of the clocks are looked for between these, and some of them taken. */
const FIRST_MS = Date.UTC(2010, 0, 1);
const LAST_MS = Date.UTC(2029, 0, 1);

/** What the clocks of a zone show in each minute of some days, asked of `Intl` alone. */
export class WallClock {
  readonly startMs: number;
  /** Of the window. */
  readonly minutes: number;
  readonly #shown: readonly string[];
  readonly #firstShown = new Map<string, number>();

  constructor(format: Intl.DateTimeFormat, startMs: number, days: number) {
    this.startMs = startMs;
    this.minutes = (days * DAY_MS) / MINUTE_MS;
    this.#shown = Array.from({ length: this.minutes }, (_, at) => format.format(startMs + at * MINUTE_MS));
    for (const [at, text] of this.#shown.entries())
      if (!this.#firstShown.has(text)) this.#firstShown.set(text, at);
  }

  /** The days of the calendar from that of a minute on, also those that the zone leaves out. */
  daysFrom(minute: number): string[] {
    const first = Date.parse((this.#shown[minute] ?? "").slice(0, 10));
    const count = Math.ceil((this.minutes - minute) / 1440) + 1;
    return Array.from({ length: count }, (_, nth) =>
      new Date(first + nth * DAY_MS).toISOString().slice(0, 10),
    );
  }

  /**
   * The first minute that shows a time on a day. Where the clocks leave it out, it is as much later as they jump: the minute
   * that shows what the clocks of before the jump would have shown then. -1 outside of the window.
   */
  minuteOf(day: string, time: string): number {
    const found = this.#firstShown.get(`${day} ${time}`);
    if (found !== undefined) return found;
    const wanted = localMinute(`${day} ${time}`);
    const jump = this.#shown.findIndex(
      (text, at) => at > 0 && localMinute(this.#shown[at - 1] ?? "") < wanted && localMinute(text) > wanted,
    );
    return jump === -1 ? -1 : jump + (wanted - localMinute(this.#shown[jump - 1] ?? "")) - 1;
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

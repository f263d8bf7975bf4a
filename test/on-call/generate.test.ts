import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isTimezone, turnsOf } from "../../src/on-call/generate.ts";

const DAY_MS = 86_400_000;
const ZONES = Intl.supportedValuesOf("timeZone");
const MAX = 400;

/** What the clocks of a zone show, asked of `Intl` alone. */
function clockOf(timezone: string): (at: number) => { day: string; time: string } {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: timezone,
    dateStyle: "short",
    timeStyle: "short",
  });
  return (at) => {
    const [day = "", time = ""] = format.format(at).split(" ");
    return { day, time };
  };
}

const turns = fc.record({
  userIds: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
  everyDays: fc.integer({ min: 1, max: 14 }),
  hour: fc.integer({ min: 0, max: 23 }),
  minute: fc.constantFrom(0, 15, 30, 59),
  timezone: fc.constantFrom(...ZONES),
  from: fc.integer({ min: Date.UTC(2005, 0, 1), max: Date.UTC(2030, 0, 1) }),
  days: fc.integer({ min: 1, max: 120 }),
});

describe("generated turns", () => {
  test("cover their range without a gap or an overlap, in the order of the people, in every zone", () => {
    fc.assert(
      fc.property(turns, ({ userIds, everyDays, hour, minute, timezone, from, days }) => {
        const handoff = `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
        const until = from + days * DAY_MS;
        const made = turnsOf({ userIds, everyDays, handoff, timezone, from, until }, MAX);
        expect(made[0]?.startsAt).toBe(from);
        expect(made.at(-1)?.endsAt).toBe(until);
        for (const [index, turn] of made.entries()) {
          expect(turn.endsAt).toBeGreaterThan(turn.startsAt);
          expect(turn.userId).toBe(userIds[index % userIds.length] ?? 0);
          const next = made[index + 1];
          if (next !== undefined) expect(next.startsAt).toBe(turn.endsAt);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("hand over when the clocks of the zone say so, or at the jump that leaves that time out", () => {
    fc.assert(
      fc.property(turns, ({ userIds, everyDays, hour, minute, timezone, from, days }) => {
        const handoff = `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
        const until = from + days * DAY_MS;
        const clock = clockOf(timezone);
        for (const { endsAt } of turnsOf({ userIds, everyDays, handoff, timezone, from, until }, MAX)) {
          if (endsAt === until || clock(endsAt).time === handoff) continue;
          // The time does not exist on that day: no minute of the day before or after the jump shows it.
          const { day } = clock(endsAt);
          for (let at = endsAt - DAY_MS; at < endsAt + DAY_MS; at += 60_000)
            expect(clock(at).day === day && clock(at).time === handoff).toBe(false);
        }
      }),
      { numRuns: 100 },
    );
  });

  test("of a week are an hour shorter and an hour longer where the clocks change", () => {
    const made = turnsOf(
      {
        userIds: [1, 2],
        everyDays: 7,
        handoff: "09:00",
        timezone: "Europe/Berlin",
        from: Date.parse("2026-03-23T08:00:00Z"),
        until: Date.parse("2026-04-06T07:00:00Z"),
      },
      MAX,
    );
    expect(made.map(({ startsAt }) => new Date(startsAt).toISOString())).toEqual([
      "2026-03-23T08:00:00.000Z",
      "2026-03-30T07:00:00.000Z",
    ]);
  });

  test("pass over the day that Samoa left out", () => {
    const made = turnsOf(
      {
        userIds: [1, 2, 3],
        everyDays: 1,
        handoff: "08:00",
        timezone: "Pacific/Apia",
        from: Date.parse("2011-12-28T18:00:00Z"),
        until: Date.parse("2012-01-02T18:00:00Z"),
      },
      MAX,
    );
    expect(made.every(({ startsAt, endsAt }) => endsAt > startsAt)).toBe(true);
    expect(new Set(made.map(({ startsAt }) => startsAt)).size).toBe(made.length);
  });

  test("stop where there are too many", () => {
    const range = { from: 0, until: 400 * DAY_MS };
    expect(
      turnsOf({ userIds: [1], everyDays: 1, handoff: "00:00", timezone: "UTC", ...range }, 10),
    ).toHaveLength(10);
  });
});

test("zones are those of the tz database, and nothing else", () => {
  expect(ZONES.every(isTimezone)).toBe(true);
  expect(["UTC", "Etc/GMT+3", "EST5EDT"].every(isTimezone)).toBe(true);
  expect(["", "Mars/Olympus", "+02:00", "-03", "Europe/Berlin "].some(isTimezone)).toBe(false);
});

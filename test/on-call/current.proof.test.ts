import { expect, test } from "bun:test";
import fc from "fast-check";
import { turnsOf } from "../../src/on-call/generate.ts";
import { onCallAt, type Rotation, shiftsBetween } from "../../src/on-call/shifts.ts";
import { proofRounds } from "../harness/proof.ts";
import { type WallClock, wallClocksOf } from "./wall-clock.ts";

/** Who is on call, against a model that walks through a schedule minute by minute and knows of clocks only what `Intl` shows. */

const SCHEDULES = proofRounds({ sample: 500, whole: 100_000 });
/** Changes of the clocks of each zone. */
const WINDOWS = proofRounds({ sample: 1, whole: 6 });
/** The whole takes each, the sample every so manieth. */
const ZONE_STEP = proofRounds({ sample: 5, whole: 1 });
const ZONES = Intl.supportedValuesOf("timeZone").filter((_, nth) => nth % ZONE_STEP === 0);
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
/** Days of a window around a change of the clocks, and what of it schedules are laid into. */
const WINDOW_DAYS = 8;
const SCHEDULE_DAYS = 3;
const TURNS_MAX = 100;

/** A turn by hand, in minutes after the beginning of the window. */
const turn = fc.record({
  userId: fc.integer({ min: 1, max: 6 }),
  start: fc.integer({ min: 0, max: (SCHEDULE_DAYS + 2) * DAY_MINUTES }),
  length: fc.integer({ min: 1, max: 2 * DAY_MINUTES }),
  override: fc.option(
    fc.record({
      userId: fc.integer({ min: 1, max: 6 }),
      start: fc.integer({ min: 0, max: (SCHEDULE_DAYS + 2) * DAY_MINUTES }),
      length: fc.integer({ min: 1, max: DAY_MINUTES }),
    }),
    { nil: null },
  ),
});

const schedule = fc.record({
  userIds: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
  everyDays: fc.integer({ min: 1, max: 3 }),
  hour: fc.integer({ min: 0, max: 23 }),
  minute: fc.constantFrom(0, 15, 30, 59),
  /** Which window of the zone, and when the schedule begins in it. */
  window: fc.nat({ max: 99 }),
  from: fc.integer({ min: 0, max: 2 * DAY_MINUTES }),
  minutes: fc.integer({ min: 60, max: SCHEDULE_DAYS * DAY_MINUTES }),
  turns: fc.array(turn, { maxLength: 5 }),
  gone: fc.integer({ min: 1, max: 8 }),
});
type Schedule = typeof schedule extends fc.Arbitrary<infer Drawn> ? Drawn : never;

/** A turn that is under way in some minute of the schedule. */
interface WalkedTurn {
  readonly start: number;
  readonly userId: number;
}

/** The generated turn of each minute of the schedule, found by walking and looking at the clock. */
function walkedTurns(
  { userIds, everyDays, from, minutes }: Schedule,
  handoff: string,
  clock: WallClock,
): WalkedTurn[] {
  const handoffs = new Set<number>();
  const days = clock.daysFrom(from);
  for (let nth = everyDays; nth < days.length; nth += everyDays)
    handoffs.add(clock.minuteOf(days[nth] ?? "", handoff));
  const turns: WalkedTurn[] = [];
  let taken = 0;
  let start = from;
  for (let at = from; at < from + minutes; at += 1) {
    if (at > from && handoffs.has(at)) {
      taken += 1;
      start = at;
    }
    turns.push({ start, userId: userIds[taken % userIds.length] ?? 0 });
  }
  return turns;
}

/** Who is on call in a minute by all claims to it: those of turns that began later go first, a stand-in goes before their person. */
function modelled(
  { turns, from, minutes, gone }: Schedule,
  generated: readonly WalkedTurn[],
  at: number,
): number | null {
  const claims: { start: number; nth: number; userIds: number[] }[] = [];
  for (const [nth, { userId, start, length, override }] of turns.entries()) {
    if (at < start || at >= start + length) continue;
    const stands = override !== null && at >= override.start && at < override.start + override.length;
    claims.push({ start, nth, userIds: stands ? [override.userId, userId] : [userId] });
  }
  const own = at >= from && at < from + minutes ? generated[at - from] : undefined;
  if (own !== undefined) claims.push({ start: own.start, nth: turns.length, userIds: [own.userId] });
  claims.sort((left, right) => right.start - left.start || right.nth - left.nth);
  return claims.flatMap(({ userIds }) => userIds).find((userId) => userId !== gone) ?? null;
}

function check(drawn: Schedule, timezone: string, clock: WallClock): void {
  const { userIds, everyDays, hour, minute, from, minutes, turns, gone } = drawn;
  const handoff = `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
  const at = (minuteOfWindow: number): number => clock.startMs + minuteOfWindow * MINUTE_MS;
  const made = turnsOf(
    { userIds, everyDays, handoff, timezone, from: at(from), until: at(from + minutes) },
    TURNS_MAX,
  );
  const rotations: Rotation[] = turns.map(({ userId, start, length, override }, id) => ({
    ...{ id, userId, startsAt: at(start), endsAt: at(start + length) },
    override:
      override === null
        ? null
        : {
            userId: override.userId,
            startsAt: at(override.start),
            endsAt: at(override.start + override.length),
          },
  }));
  for (const generated of made) rotations.push({ id: rotations.length, override: null, ...generated });
  const generated = walkedTurns(drawn, handoff, clock);
  const isReachable = (userId: number): boolean => userId !== gone;
  const until = clock.minutes;
  const shifts = shiftsBetween(rotations, { from: clock.startMs, to: at(until) }, isReachable);
  let shift = 0;
  for (let each = 0; each < until; each += 1) {
    const expected = modelled(drawn, generated, each);
    while ((shifts[shift]?.to ?? Number.POSITIVE_INFINITY) <= at(each)) shift += 1;
    // Not `expect`, which would take most of the time.
    const found = [onCallAt(rotations, at(each), isReachable), shifts[shift]?.userId ?? null];
    if (found.some((userId) => userId !== expected))
      throw new Error(`${timezone}, ${new Date(at(each)).toISOString()}: ${found} in place of ${expected}`);
  }
}

test("who is on call is who the model says in every minute, in every zone of the tz database", () => {
  const perZone = Math.ceil(SCHEDULES / ZONES.length);
  let checked = 0;
  for (const timezone of ZONES) {
    const clocks = wallClocksOf(timezone, WINDOW_DAYS, WINDOWS);
    fc.assert(
      fc.property(schedule, (drawn) => {
        const clock = clocks[drawn.window % clocks.length];
        if (clock === undefined) throw new Error(`no window of ${timezone}`);
        check(drawn, timezone, clock);
        checked += 1;
      }),
      { numRuns: perZone, seed: 20_260_301 },
    );
  }
  expect(checked).toBeGreaterThanOrEqual(SCHEDULES);
});

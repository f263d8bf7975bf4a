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
/** Of one schedule of so many it is asked in each minute who is on call. */
const ASKED_EACH = 50;

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

/** Nobody, among the numbers of people. */
const NOBODY = 0;

/** A turn and the minutes of the window that it has, one who stands in included. */
interface WalkedTurn {
  readonly start: number;
  readonly end: number;
  readonly userId: number;
  readonly override: { readonly userId: number; readonly start: number; readonly end: number } | null;
}

/** The generated turns of the schedule, found by walking through its minutes and looking at the clock. */
function walkedTurns(
  { userIds, everyDays, hour, minute, from, minutes }: Schedule,
  clock: WallClock,
): WalkedTurn[] {
  const handoffs = new Set<number>();
  const days = clock.daysFrom(from);
  for (let nth = everyDays; nth < days.length; nth += everyDays)
    handoffs.add(clock.minuteOf((days[nth] ?? 0) + hour * 60 + minute));
  const turns: WalkedTurn[] = [];
  let start = from;
  for (let at = from + 1; at <= from + minutes; at += 1) {
    if (!handoffs.has(at) && at < from + minutes) continue;
    turns.push({ start, end: at, userId: userIds[turns.length % userIds.length] ?? 0, override: null });
    start = at;
  }
  return turns;
}

/**
 * Who is on call in each minute of the window: turns are written over each other, a minute at a time, those that began
 * later over those that began before, and a stand-in over their person. Who is gone writes nothing.
 */
function modelled({ turns, gone }: Schedule, generated: readonly WalkedTurn[], minutes: number): Uint8Array {
  const byHand = turns.map(({ userId, start, length, override }) => ({
    ...{ userId, start, end: start + length },
    override: override === null ? null : { ...override, end: override.start + override.length },
  }));
  const all = [...byHand, ...generated].map((each, nth) => ({ ...each, nth }));
  all.sort((left, right) => left.start - right.start || left.nth - right.nth);
  const who = new Uint8Array(minutes).fill(NOBODY);
  for (const { userId, start, end, override } of all) {
    for (let at = start; at < Math.min(end, minutes); at += 1) {
      if (userId !== gone) who[at] = userId;
      if (override === null || override.userId === gone) continue;
      if (at >= override.start && at < override.end) who[at] = override.userId;
    }
  }
  return who;
}

/** The rotations that the code under test makes of a schedule. */
function rotationsOf(drawn: Schedule, timezone: string, at: (minute: number) => number): Rotation[] {
  const { userIds, everyDays, hour, minute, from, minutes, turns } = drawn;
  const handoff = `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
  const range = { from: at(from), until: at(from + minutes) };
  const made = turnsOf({ userIds, everyDays, handoff, timezone, ...range }, TURNS_MAX);
  const byHand = turns.map(({ userId, start, length, override }) => ({
    ...{ userId, startsAt: at(start), endsAt: at(start + length) },
    override: override && {
      userId: override.userId,
      startsAt: at(override.start),
      endsAt: at(override.start + override.length),
    },
  }));
  return [...byHand, ...made.map((each) => ({ ...each, override: null }))].map((each, id) => ({
    id,
    ...each,
  }));
}

/**
 * The minutes at which it is asked who is on call. Of some schedules each; of the others those around every moment at which
 * something begins or ends, by the rotations and by the model, for between them nothing there is says that it changes.
 */
function askedMinutes(
  rotations: readonly Rotation[],
  expected: Uint8Array,
  { startMs, minutes }: WallClock,
  asksEach: boolean,
): Iterable<number> {
  if (asksEach) return expected.keys();
  const bounds = rotations.flatMap(({ startsAt, endsAt, override }) => [
    startsAt,
    endsAt,
    ...(override === null ? [] : [override.startsAt, override.endsAt]),
  ]);
  const asked = new Set(bounds.map((at) => (at - startMs) / MINUTE_MS).flatMap((at) => [at - 1, at, at + 1]));
  for (let at = 1; at < minutes; at += 1)
    if (expected[at] !== expected[at - 1]) for (const near of [at - 1, at]) asked.add(near);
  return [...asked].filter((at) => at >= 0 && at < minutes);
}

function check(drawn: Schedule, timezone: string, clock: WallClock, asksEach: boolean): void {
  const at = (minuteOfWindow: number): number => clock.startMs + minuteOfWindow * MINUTE_MS;
  const rotations = rotationsOf(drawn, timezone, at);
  const expected = modelled(drawn, walkedTurns(drawn, clock), clock.minutes);
  const isReachable = (userId: number): boolean => userId !== drawn.gone;
  // Not `expect`, which would take most of the time.
  const compare = (minute: number, found: number | null): void => {
    if ((found ?? NOBODY) !== expected[minute])
      throw new Error(
        `${timezone}, ${new Date(at(minute)).toISOString()}: ${found}, not ${expected[minute]}`,
      );
  };
  let minute = 0;
  for (const { from, to, userId } of shiftsBetween(
    rotations,
    { from: clock.startMs, to: at(clock.minutes) },
    isReachable,
  )) {
    if (from !== at(minute)) throw new Error(`${timezone}: a shift begins where the one before does not end`);
    for (; at(minute) < to; minute += 1) compare(minute, userId);
  }
  if (minute !== clock.minutes) throw new Error(`${timezone}: the shifts end before the range does`);
  for (const each of askedMinutes(rotations, expected, clock, asksEach)) {
    compare(each, onCallAt(rotations, at(each), isReachable));
    compare(each, onCallAt(rotations, at(each + 1) - 1, isReachable));
  }
}

test("who is on call is who the model says in every minute, in every zone of the tz database", () => {
  const perZone = Math.ceil(SCHEDULES / ZONES.length);
  let checked = 0;
  // Of its own for each zone, or each would be shown the same schedules.
  const { seed = Date.now() } = fc.readConfigureGlobal();
  for (const [nth, timezone] of ZONES.entries()) {
    const clocks = wallClocksOf(timezone, WINDOW_DAYS, WINDOWS);
    fc.assert(
      fc.property(schedule, (drawn) => {
        const clock = clocks[drawn.window % clocks.length];
        if (clock === undefined) throw new Error(`no window of ${timezone}`);
        check(drawn, timezone, clock, checked % ASKED_EACH === 0);
        checked += 1;
      }),
      { numRuns: perZone, seed: seed + nth },
    );
  }
  expect(checked).toBeGreaterThanOrEqual(SCHEDULES);
});

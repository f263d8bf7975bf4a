/** The properties that the test of states samples and its proof repeats at length. */
import { expect } from "bun:test";
import fc from "fast-check";
import { advance, type GroupState, type StateTimes } from "../../../src/rules/evaluation/states.ts";

interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

type Kind = GroupState["kind"] | null;
interface Observable extends Span {
  readonly span: Span;
  readonly isReported: boolean;
}
type Observed = Parameters<typeof advance<Observable>>[1];
type Advanced = ReturnType<typeof advance<Observable>>;

/** What happened, without of which episode. */
type Happened = readonly [kind: string, atMs: number | null];

/** Apart from each other, in ascending order. */
function spans(maxGap: number, maxLength: number): fc.Arbitrary<Span[]> {
  return fc
    .array(fc.tuple(fc.integer({ min: 1, max: maxGap }), fc.integer({ min: 1, max: maxLength })), {
      maxLength: 6,
    })
    .map((list) => {
      let at = 0;
      return list.map(([gap, length]) => {
        const fromMs = at + gap;
        at = fromMs + length;
        return { fromMs, untilMs: at };
      });
    });
}

const times: fc.Arbitrary<StateTimes> = fc.record({
  forMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 12 })),
  keepFiringMs: fc.integer({ min: 0, max: 25 }),
  noDataMs: fc.constant(null),
});

const known = fc.record({ episodes: spans(30, 20), holds: spans(20, 30), times });

/** Goes from one moment to the next and looks: the definition. What is told at `throughMs`, and the state then. */
function ticked(
  { episodes, holds, times }: { episodes: readonly Span[]; holds: readonly Span[]; times: StateTimes },
  throughMs: number,
): { kind: Kind; happened: Happened[] } {
  const happened: Happened[] = [];
  const at = (list: readonly Span[], t: number) => list.find((span) => t >= span.fromMs && t < span.untilMs);
  let kind: Kind = null;
  let since = 0;
  let endedAt = 0;
  for (let t = 0; t <= throughMs; t++) {
    const episode = at(episodes, t);
    if (kind === "pending" && t - since >= times.forMs) {
      kind = "firing";
      happened.push(["raised", t]);
    } else if (kind === "pending" && episode === undefined) kind = null;
    const wasFiring = kind === "firing";
    if (kind === "firing" || kind === "recovering") {
      if (episode !== undefined) kind = "firing";
      // What ends at a moment and what holds from that moment on is one: nothing lies between.
      else if (!(wasFiring && (at(holds, t) !== undefined || holds.some(({ fromMs }) => fromMs === t)))) {
        if (wasFiring) endedAt = t;
        kind = "recovering";
        if (t - endedAt >= times.keepFiringMs) {
          kind = null;
          happened.push(["cleared", t]);
        }
      }
    }
    if (kind === null && episode !== undefined) {
      if (times.forMs === 0) {
        kind = "firing";
        happened.push(["raised", t]);
      } else if (t === episode.fromMs) {
        kind = "pending";
        since = t;
      }
    }
  }
  return { kind, happened };
}

/** One look at the end, and looks at many moments, tell the same, which is what happened from moment to moment. */
export const isWhatHappenedFromMomentToMoment = fc.property(
  known,
  fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 8 }),
  (given, steps) => {
    const reported = new Set<Span>();
    const happened: Happened[] = [];
    let state: GroupState | null = null;
    let throughMs = 0;
    for (const step of steps) {
      throughMs += step;
      const episodes = given.episodes
        .filter(({ fromMs }) => fromMs <= throughMs)
        .map((span) => ({ ...span, span, isReported: reported.has(span) }));
      const observed: Observed = { episodes, holds: given.holds, lastDataMs: throughMs };
      const advanced: Advanced = advance(state, observed, given.times, throughMs);
      state = advanced.state;
      for (const transition of advanced.transitions) {
        if (transition.kind === "raised" || transition.kind === "joined")
          reported.add(transition.episode.span);
        if (transition.kind === "raised" || transition.kind === "cleared")
          happened.push([transition.kind, transition.atMs]);
      }
    }
    expect({ kind: state?.kind ?? null, happened }).toEqual(ticked(given, throughMs));
  },
);

/** Episodes become known in any order, however late: each is told once, of each incident the end, and in the end all is as it is. */
export const tellsEachEpisodeOnce = fc.property(
  known.chain((given) =>
    fc.record({
      given: fc.constant(given),
      arrival: fc.shuffledSubarray(given.episodes, { minLength: given.episodes.length }),
      steps: fc.array(fc.tuple(fc.integer({ min: 0, max: 80 }), fc.integer({ min: 0, max: 3 })), {
        maxLength: 10,
      }),
    }),
  ),
  ({ given, arrival, steps }) => {
    const told = new Map<Span, number>();
    let state: GroupState | null = null;
    let throughMs = 0;
    let arrived = 0;
    let open = 0;
    for (const [step, more] of [...steps, [1000, arrival.length] as const]) {
      throughMs += step;
      arrived += more;
      const look = () => {
        const episodes = arrival
          .slice(0, arrived)
          .map((span) => ({ ...span, span, isReported: told.has(span) }));
        return advance(
          state,
          { episodes, holds: given.holds, lastDataMs: throughMs },
          given.times,
          throughMs,
        );
      };
      const advanced = look();
      state = advanced.state;
      for (const transition of advanced.transitions) {
        if (transition.kind === "raised" || transition.kind === "joined")
          told.set(transition.episode.span, (told.get(transition.episode.span) ?? 0) + 1);
        if (transition.kind === "raised") open++;
        if (transition.kind === "cleared") {
          open--;
          expect(transition.atMs).toBeLessThanOrEqual(throughMs);
        }
        expect([0, 1]).toContain(open);
      }
      expect(state?.kind === "firing" || state?.kind === "recovering").toBe(open === 1);
      // Who looks again at the same hears nothing.
      expect(look()).toEqual({ state, transitions: [] });
    }
    expect(state).toBeNull();
    expect([...told.values()].filter((count) => count > 1)).toEqual([]);
    const long = given.episodes.filter(({ fromMs, untilMs }) => untilMs - fromMs >= given.times.forMs);
    expect(long.filter((span) => !told.has(span))).toEqual([]);
  },
);

/** At one moment, in whatever order the episodes became known by then. */
export const isTheSameInEveryOrder = fc.property(
  known.chain((given) =>
    fc.record({
      given: fc.constant(given),
      arrival: fc.shuffledSubarray(given.episodes, { minLength: given.episodes.length }),
    }),
  ),
  fc.integer({ min: 0, max: 200 }),
  ({ given, arrival }, throughMs) => {
    const told = new Set<Span>();
    let state: GroupState | null = null;
    for (const arrived of arrival.keys()) {
      const episodes = arrival
        .slice(0, arrived + 1)
        .filter(({ fromMs }) => fromMs <= throughMs)
        .map((span) => ({ ...span, span, isReported: told.has(span) }));
      const observed: Observed = { episodes, holds: given.holds, lastDataMs: throughMs };
      const advanced: Advanced = advance(state, observed, given.times, throughMs);
      state = advanced.state;
      for (const transition of advanced.transitions)
        if ("episode" in transition) told.add(transition.episode.span);
    }
    expect(state?.kind ?? null).toBe(ticked(given, throughMs).kind);
  },
);

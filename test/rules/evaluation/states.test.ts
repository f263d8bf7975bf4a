/** The states of a rule and a group, against going from moment to moment. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { advance, afterRun, type GroupState, type StateTimes } from "../../../src/rules/evaluation/states.ts";
import {
  isTheSameInEveryOrder,
  isWhatHappenedFromMomentToMoment,
  tellsEachEpisodeOnce,
} from "./states-property.ts";

const TIMES: StateTimes = { forMs: 60, keepFiringMs: 100, noDataMs: null };

describe("states", () => {
  test("are what going from moment to moment finds, looked at seldom or often", () => {
    fc.assert(isWhatHappenedFromMomentToMoment, { numRuns: 2000 });
  });

  test("tell each episode once and each end once, in whatever order episodes become known", () => {
    fc.assert(tellsEachEpisodeOnce, { numRuns: 1500 });
  });

  test("are the same in whatever order episodes became known", () => {
    fc.assert(isTheSameInEveryOrder, { numRuns: 1500 });
  });

  test("go from pending to firing, recovering and back to well as time passes", () => {
    const episode = { fromMs: 1000, untilMs: 1200, isReported: false };
    let state: GroupState | null = null;
    const at = (throughMs: number) => {
      const episodes = [{ ...episode, isReported: state?.incident != null }];
      const advanced = advance(state, { episodes, holds: [], lastDataMs: 0 }, TIMES, throughMs);
      state = advanced.state;
      return [state?.kind, ...advanced.transitions.map(({ kind }) => kind)];
    };
    expect(at(1010)).toEqual(["pending"]);
    expect(at(1060)).toEqual(["firing", "raised"]);
    expect(at(1199)).toEqual(["firing"]);
    expect(at(1200)).toEqual(["recovering", "changed"]);
    expect(at(1300)).toEqual([undefined, "cleared"]);
  });

  test("recover only below the threshold of recovery, and fire again only above their own", () => {
    const episodes = [{ fromMs: 0, untilMs: 100, isReported: false }];
    const holds = [
      { fromMs: 50, untilMs: 400 },
      { fromMs: 450, untilMs: 460 },
    ];
    const kindAt = (throughMs: number) =>
      advance(null, { episodes, holds, lastDataMs: 0 }, TIMES, throughMs).state?.kind;
    expect([399, 400, 455, 499, 500].map(kindAt)).toEqual([
      "firing",
      "recovering",
      "recovering",
      "recovering",
      undefined,
    ]);
  });

  test("say what is missing once, also where a server that returns sets back how far everything is known", () => {
    const times = { ...TIMES, noDataMs: 600 };
    let state: GroupState | null = null;
    const at = (throughMs: number, lastDataMs: number) => {
      const advanced = advance(state, { episodes: [], holds: [], lastDataMs }, times, throughMs);
      state = advanced.state;
      return advanced.transitions.map(({ kind }) => kind);
    };
    expect(at(1000, 400)).toEqual(["data_missing"]);
    expect(at(900, 400)).toEqual([]);
    expect(at(1100, 400)).toEqual([]);
    expect(at(1100, 700)).toEqual(["data_returned"]);
    expect(at(1300, 700)).toEqual(["data_missing"]);
  });

  test("do not wait for the watermark to say that something begins", () => {
    const episodes = [{ fromMs: 500, untilMs: 600, isReported: false }];
    const { state, transitions } = advance(
      null,
      { episodes, holds: [], lastDataMs: 0 },
      { ...TIMES, forMs: 0 },
      10,
    );
    expect(state?.kind).toBe("firing");
    expect(transitions.map(({ kind }) => kind)).toEqual(["raised"]);
  });

  test("begin again where a reported episode goes on after its incident was closed, and not where it is long over", () => {
    const told = (untilMs: number) =>
      advance(
        null,
        { episodes: [{ fromMs: 0, untilMs, isReported: true }], holds: [], lastDataMs: 0 },
        TIMES,
        1000,
      ).transitions.map(({ kind }) => kind);
    expect(told(901)).toEqual(["raised"]);
    expect(told(900)).toEqual([]);
  });
});

describe("missing data", () => {
  const times = { ...TIMES, noDataMs: 200 };
  const look = (state: GroupState | null, lastDataMs: number, throughMs: number) =>
    advance(state, { episodes: [], holds: [], lastDataMs }, times, throughMs);

  test("are told once, and once that they are back", () => {
    expect(look(null, 100, 299).state).toBeNull();
    const missing = look(null, 100, 300);
    expect(missing.transitions).toEqual([{ kind: "data_missing", atMs: 300 }]);
    expect(look(missing.state, 100, 900)).toEqual({ state: missing.state, transitions: [] });
    expect(look(missing.state, 850, 900)).toEqual({
      state: null,
      transitions: [{ kind: "data_returned", atMs: 850 }],
    });
  });

  test("close no incident before its time", () => {
    const incident = { raisedAtMs: 0, fromMs: 0, untilMs: 250 };
    const firing: GroupState = { kind: "firing", sinceMs: 0, incident };
    expect(look(firing, 0, 300).state?.kind).toBe("recovering");
    expect(look(firing, 0, 350).transitions).toEqual([
      { kind: "cleared", atMs: 350 },
      { kind: "data_missing", atMs: 200 },
    ]);
  });
});

test("a rule is in error after three failures in succession, and well after one run", () => {
  const became: unknown[] = [];
  let failures = 0;
  for (const hasFailed of [true, true, false, true, true, true, true, false, false]) {
    const after = afterRun(failures, hasFailed);
    failures = after.failures;
    became.push(after.became);
  }
  expect(became).toEqual([null, null, null, null, null, "error", null, "well", null]);
});

/** What becomes of recorded episodes as points come, and, of kinds that may lose some, go. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { addPoints, type Episode, replacePoints } from "../../../src/rules/evaluation/episodes.ts";
import { joinedStretches, type Stretch } from "../../../src/rules/evaluation/stretches.ts";
import { applied, withoutIds } from "./threshold-property.ts";

const WINDOW_MS = 60;

function stretch(fromMs: number, toMs: number, peak = 1): Stretch {
  return { fromMs, toMs, untilMs: toMs + WINDOW_MS, peak };
}

describe("points that come", () => {
  const recorded: Episode[] = [
    { ...stretch(0, 100), id: 7 },
    { ...stretch(200, 250), id: 3 },
  ];

  test("open an episode where none is near, and extend the one that is", () => {
    expect(addPoints(recorded, [stretch(310, 320)], WINDOW_MS)).toEqual([
      { kind: "opened", episode: stretch(310, 320) },
    ]);
    expect(addPoints(recorded, [stretch(309, 320)], WINDOW_MS)).toEqual([
      { kind: "extended", id: 3, episode: stretch(200, 320) },
    ]);
  });

  test("join episodes into the one that was recorded first", () => {
    expect(addPoints(recorded, [stretch(150, 150, 5)], WINDOW_MS)).toEqual([
      { kind: "extended", id: 3, episode: stretch(0, 250, 5) },
      { kind: "merged", id: 7, into: 3 },
    ]);
  });

  test("say nothing where they are known", () => {
    expect(addPoints(recorded, [stretch(210, 220)], WINDOW_MS)).toEqual([]);
  });
});

describe("points that are found anew", () => {
  const recorded: Episode[] = [{ ...stretch(0, 300, 9), id: 1 }];

  test("take back what is no longer there", () => {
    expect(replacePoints(recorded, [], WINDOW_MS)).toEqual([{ kind: "corrected", id: 1, episode: null }]);
    expect(replacePoints(recorded, [stretch(0, 300, 9)], WINDOW_MS)).toEqual([]);
  });

  test("leave an episode that falls apart its first part", () => {
    expect(replacePoints(recorded, [stretch(10, 50, 4), stretch(200, 300, 9)], WINDOW_MS)).toEqual([
      { kind: "corrected", id: 1, episode: stretch(10, 50, 4) },
      { kind: "opened", episode: stretch(200, 300, 9) },
    ]);
  });

  test("end in what was found last, whatever was recorded before", () => {
    const some = fc
      .array(fc.tuple(fc.nat(400), fc.nat(80), fc.nat(9)), { maxLength: 6 })
      .map((list) => list.map(([fromMs, length, peak]) => stretch(fromMs, fromMs + length, peak)));
    fc.assert(
      fc.property(fc.array(some, { minLength: 1, maxLength: 5 }), (rounds) => {
        let episodes: Episode[] = [];
        let ids = 0;
        for (const found of rounds) {
          episodes = applied(episodes, replacePoints(episodes, found, WINDOW_MS), () => ++ids);
          expect(withoutIds(episodes)).toEqual(joinedStretches(found, WINDOW_MS));
        }
      }),
      { numRuns: 1000 },
    );
  });
});

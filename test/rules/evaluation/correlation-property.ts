import { expect } from "bun:test";
import fc from "fast-check";
import { cardinalityPoints } from "../../../src/rules/evaluation/cardinality.ts";
import { sequencePoints } from "../../../src/rules/evaluation/sequence.ts";
import { stepEvidence } from "../../../src/rules/evaluation/step-evidence.ts";
import { bruteCardinality, bruteSequence } from "./brute-correlation.ts";

/** Few times, so that many entries have the same. */
const at = fc.integer({ min: 0, max: 12 });

/** What `sequencePoints` finds is what trying everything finds, in whatever order the entries are given. */
export function checkSequences(numRuns: number): void {
  const hit = (steps: number) =>
    fc.record({
      atMs: at,
      steps: fc.subarray(
        Array.from({ length: steps }, (_, i) => i),
        { minLength: 1 },
      ),
    });
  const cases = fc.integer({ min: 2, max: 4 }).chain((steps) =>
    fc.record({
      steps: fc.constant(steps),
      hits: fc.array(hit(steps), { maxLength: 7 }),
      windowMs: fc.integer({ min: 0, max: 8 }),
    }),
  );
  fc.assert(
    fc.property(cases, ({ steps, hits, windowMs }) => {
      const expected = [...bruteSequence(hits, steps, windowMs)].toSorted(([a], [b]) => a - b);
      const found = sequencePoints(hits, steps, windowMs).map(({ atMs, startMs }) => [atMs, startMs]);
      expect(found).toEqual(expected);
      // What shows it is such a way, too.
      const named = hits.map((each, i) => ({ ...each, id: String(i) }));
      for (const [atMs = 0, startMs = 0] of found) {
        const shown = stepEvidence(named, steps, { atMs, startMs });
        expect(shown.map(({ step }) => step)).toEqual(Array.from({ length: steps }, (_, i) => i + 1));
        expect(new Set(shown.map(({ entryId }) => entryId)).size).toBe(steps);
        const taken = shown.map(({ entryId }) => hits[Number(entryId)]);
        expect(taken.every((each, step) => each?.steps.includes(step))).toBe(true);
        const times = taken.map((each) => each?.atMs ?? Number.NaN);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        expect([times[0], times.at(-1)]).toEqual([startMs, atMs]);
      }
    }),
    { numRuns },
  );
}

/** What `cardinalityPoints` finds is what counting around each entry finds. */
export function checkCardinalities(numRuns: number): void {
  const hits = fc.array(fc.record({ atMs: at, value: fc.constantFrom("a", "b", "c", "d") }), {
    maxLength: 10,
  });
  fc.assert(
    fc.property(
      hits,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 8 }),
      (all, threshold, windowMs) => {
        expect(cardinalityPoints(all, threshold, windowMs)).toEqual(
          bruteCardinality(all, threshold, windowMs),
        );
      },
    ),
    { numRuns },
  );
}

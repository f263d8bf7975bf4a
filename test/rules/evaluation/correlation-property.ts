import { expect } from "bun:test";
import fc from "fast-check";
import { cardinalityPoints } from "../../../src/rules/evaluation/cardinality.ts";
import { type Hit, sequencePoints } from "../../../src/rules/evaluation/sequence.ts";
import { stepEvidence } from "../../../src/rules/evaluation/step-evidence.ts";

/** Few times, so that many entries have the same. */
const at = fc.integer({ min: 0, max: 12 });

/** Tries every way to take an entry for each step, in the order of time. */
function bruteSequence(hits: readonly Hit[], stepCount: number, windowMs: number): Map<number, number> {
  const found = new Map<number, number>();
  const take = (step: number, used: readonly Hit[], lastMs: number, startMs: number): void => {
    if (step === stepCount) {
      found.set(lastMs, Math.max(found.get(lastMs) ?? Number.NEGATIVE_INFINITY, startMs));
      return;
    }
    for (const hit of hits) {
      if (used.includes(hit) || !hit.steps.includes(step) || hit.atMs < lastMs) continue;
      const begun = step === 0 ? hit.atMs : startMs;
      if (hit.atMs - begun <= windowMs) take(step + 1, [...used, hit], hit.atMs, begun);
    }
  };
  take(0, [], Number.NEGATIVE_INFINITY, 0);
  return found;
}

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
        const times = [...new Set(all.map(({ atMs }) => atMs))].toSorted((a, b) => a - b);
        const expected = times.flatMap((atMs) => {
          const inside = all.filter((hit) => hit.atMs > atMs - windowMs && hit.atMs <= atMs);
          const values = new Set(inside.map(({ value }) => value)).size;
          return values >= threshold ? [{ atMs, values }] : [];
        });
        expect(cardinalityPoints(all, threshold, windowMs)).toEqual(expected);
      },
    ),
    { numRuns },
  );
}

/** What rules about several entries find, said by trying everything: the definition that their evaluation is held to. */
import type { Hit } from "../../../src/rules/evaluation/sequence.ts";

/** Tries every way to take an entry for each step, in the order of time: where one ends, and when the latest such began. */
export function bruteSequence(
  hits: readonly Hit[],
  stepCount: number,
  windowMs: number,
): Map<number, number> {
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

/** Counts around each entry: where a window that ends with it, its beginning excluded, has enough different values, and how many. */
export function bruteCardinality(
  hits: readonly { readonly atMs: number; readonly value: string }[],
  threshold: number,
  windowMs: number,
): { readonly atMs: number; readonly values: number }[] {
  const times = [...new Set(hits.map(({ atMs }) => atMs))].toSorted((a, b) => a - b);
  return times.flatMap((atMs) => {
    const inside = hits.filter((hit) => hit.atMs > atMs - windowMs && hit.atMs <= atMs);
    const values = new Set(inside.map(({ value }) => value)).size;
    return values >= threshold ? [{ atMs, values }] : [];
  });
}

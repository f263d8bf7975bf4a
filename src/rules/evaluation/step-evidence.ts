import { sequencePoints } from "./sequence.ts";

/** An entry that shows a step of a sequence, from 1 on, or one of the values that were counted. */
export interface StepEvidence {
  readonly entryId: string;
  readonly at: string;
  readonly step?: number;
  readonly value?: string;
}

interface StepHit {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly steps: readonly number[];
}

/** As many entries show enough of many values. */
const VALUES_MAX_SHOWN = 20;
const VALUE_MAX_CHARS = 255;

/**
 * An entry for each step of the sequence that ends at a moment and begins at another, as `sequencePoints` found it: of those that are left
 * for the steps before, the last one each. Empty where there is none.
 */
export function stepEvidence(
  hits: readonly StepHit[],
  stepCount: number,
  { atMs, startMs }: { readonly atMs: number; readonly startMs: number },
): StepEvidence[] {
  const inside = hits
    .filter((hit) => hit.atMs >= startMs && hit.atMs <= atMs)
    .toSorted((left, right) => left.atMs - right.atMs);
  const shown: StepEvidence[] = [];
  let left = inside;
  for (let step = stepCount - 1; step >= 0; step--) {
    const place = left.findLastIndex((hit, i) => {
      const isEnd = step < stepCount - 1 || hit.atMs === atMs;
      return (
        isEnd && hit.steps.includes(step) && canBegin(without(left, i, hit.atMs), step, startMs, hit.atMs)
      );
    });
    const hit = left[place];
    if (hit === undefined) return [];
    shown.unshift({ step: step + 1, entryId: hit.id, at: new Date(hit.atMs).toISOString() });
    left = without(left, place, hit.atMs);
  }
  return shown;
}

function without(hits: readonly StepHit[], place: number, untilMs: number): StepHit[] {
  return hits.filter((hit, i) => i !== place && hit.atMs <= untilMs);
}

/** Whether entries up to a moment are the first so many steps, beginning at the other one or later; of none, whether the two are one. */
function canBegin(hits: readonly StepHit[], stepCount: number, startMs: number, untilMs: number): boolean {
  if (stepCount === 0) return untilMs === startMs;
  return sequencePoints(hits, stepCount, untilMs - startMs).length > 0;
}

/** The last entry with each of the values in a window whose beginning is excluded, the latest first. */
export function valueEvidence(
  hits: readonly { readonly id: string; readonly atMs: number; readonly value: string }[],
  { fromMs, atMs }: { readonly fromMs: number; readonly atMs: number },
): StepEvidence[] {
  const byValue = new Map<string, StepEvidence>();
  const inside = hits
    .filter((hit) => hit.atMs > fromMs && hit.atMs <= atMs)
    .toSorted((left, right) => right.atMs - left.atMs);
  for (const { id, atMs: ms, value } of inside) {
    if (byValue.size === VALUES_MAX_SHOWN) break;
    if (!byValue.has(value))
      byValue.set(value, {
        ...{ entryId: id, at: new Date(ms).toISOString() },
        value: [...value].slice(0, VALUE_MAX_CHARS).join(""),
      });
  }
  return [...byValue.values()];
}

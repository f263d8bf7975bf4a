import { MADE_TOGETHER_MAX } from "./limits.ts";
import type { Step } from "./plan.ts";

/** Steps that are taken at once: records of a kind that are made, or one of any other step. */
export function batchesOf(steps: readonly Step[]): Step[][] {
  const batches: Step[][] = [];
  for (const step of steps) {
    const last = batches.at(-1);
    if (last?.[0] !== undefined && last.length < MADE_TOGETHER_MAX && areMadeTogether(last[0], step))
      last.push(step);
    else batches.push([step]);
  }
  return batches;
}

/** Records of a kind that calls others of it are made in their order. */
function areMadeTogether(one: Step, other: Step): boolean {
  const isMade = one.action === "create" && other.action === "create";
  return isMade && one.kind === other.kind && one.kind.calls === null;
}

/** Kinds stand in the order of their needs: what refers to a record is made after it and goes before it. */
export function inTurn(steps: readonly Step[]): Step[] {
  const isRemoved = ({ action }: Step): boolean => action === "delete";
  return [...steps.filter((step) => !isRemoved(step)), ...steps.filter(isRemoved).toReversed()];
}

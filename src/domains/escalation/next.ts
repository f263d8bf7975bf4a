import type { EscalationPolicy } from "./types.ts";

/** What of a policy is in force for an incident: as it was when the incident opened. */
export type PolicySnapshot = Pick<EscalationPolicy, "steps" | "repeat">;

/** How far the escalation of an incident has come; times are milliseconds since 1970. */
export interface Escalation {
  /** The step that comes next, and how often all of them were taken before. */
  readonly step: number;
  readonly cycle: number;
  /** When it is due; null once there is nothing left to do. */
  readonly nextAt: number | null;
}

/** A step that was taken: whom it reaches, null where nobody was on call. */
export interface TakenStep {
  readonly step: number;
  readonly cycle: number;
  readonly userId: number | null;
}

/** Who is reached by a step at a moment; null when nobody is. */
export type Reach = (step: PolicySnapshot["steps"][number], at: number) => number | null;

/** The escalation of an incident that has just opened. */
export function begin(policy: PolicySnapshot, openedAt: number): Escalation {
  return { step: 0, cycle: 0, nextAt: dueAt(policy, 0, openedAt) };
}

/**
 * Takes the step that is due. Delays count from when a step was really taken, so that a late server does not page two
 * people at once; where nobody is on call the next step is taken without its delay, but in the first round alone: whoever
 * was paged in an earlier one is given the time to answer. `nextAt` is null when that was the last step of the last round.
 */
export function takeStep(
  policy: PolicySnapshot,
  escalation: Escalation,
  now: number,
  reach: Reach,
): { readonly taken: TakenStep; readonly escalation: Escalation } {
  const { step, cycle } = escalation;
  const current = policy.steps[step];
  if (current === undefined) throw new Error("an escalation has come past the end of its policy");
  const userId = reach(current, now);
  const taken = { step, cycle, userId };
  if (step + 1 < policy.steps.length) {
    const nextAt = userId === null && cycle === 0 ? now : dueAt(policy, step + 1, now);
    return { taken, escalation: { step: step + 1, cycle, nextAt } };
  }
  if (cycle < policy.repeat)
    return { taken, escalation: { step: 0, cycle: cycle + 1, nextAt: dueAt(policy, 0, now) } };
  return { taken, escalation: { step: policy.steps.length, cycle, nextAt: null } };
}

/** Until when steps that are due at a moment are held back; null when nothing holds them. */
type HeldUntil = (at: number) => number | null;

/** Every step that would be taken if nobody answered, as the server itself would take them. */
export function simulate(
  policy: PolicySnapshot,
  openedAt: number,
  reach: Reach,
  heldUntil: HeldUntil = () => null,
): (TakenStep & { readonly at: number })[] {
  const steps: (TakenStep & { at: number })[] = [];
  let escalation = begin(policy, openedAt);
  while (escalation.nextAt !== null) {
    const at = escalation.nextAt;
    const resumeAt = heldUntil(at);
    if (resumeAt !== null) {
      escalation = { ...escalation, nextAt: resumeAt };
      continue;
    }
    const next = takeStep(policy, escalation, at, reach);
    steps.push({ ...next.taken, at });
    escalation = next.escalation;
  }
  return steps;
}

function dueAt({ steps }: PolicySnapshot, step: number, from: number): number {
  return from + (steps[step]?.delaySec ?? 0) * 1000;
}

/** True points of a rule and a group that are closer to each other than its window, in event time. */
export interface Stretch {
  /** The first and the last of them. */
  readonly fromMs: number;
  readonly toMs: number;
  /** When the condition, unless another point comes, holds no longer. */
  readonly untilMs: number;
  /** What the rule measures, at its worst. */
  readonly peak: number;
}

/** Stretches that are closer than a window become one. The order in which they are given, and how often, says nothing. */
export function joinedStretches<S extends Stretch>(stretches: readonly S[], windowMs: number): Stretch[] {
  return clusters(stretches, windowMs).map(({ stretch }) => stretch);
}

/** A stretch, and those it was made of. */
interface Cluster<S extends Stretch> {
  readonly stretch: Stretch;
  readonly members: readonly S[];
}

/** The stretches in groups that are a window or more apart from each other, in ascending order. */
export function clusters<S extends Stretch>(stretches: readonly S[], windowMs: number): Cluster<S>[] {
  const found: { stretch: Stretch; members: S[] }[] = [];
  for (const member of stretches.toSorted((left, right) => left.fromMs - right.fromMs)) {
    const last = found.at(-1);
    if (last === undefined || !isCloser(last.stretch, member, windowMs)) {
      const { fromMs, toMs, untilMs, peak } = member;
      found.push({ stretch: { fromMs, toMs, untilMs, peak }, members: [member] });
    } else {
      last.stretch = together(last.stretch, member);
      last.members.push(member);
    }
  }
  return found;
}

/** Whether two stretches belong to one episode. */
export function isCloser(one: Stretch, other: Stretch, windowMs: number): boolean {
  return other.fromMs - one.toMs < windowMs && one.fromMs - other.toMs < windowMs;
}

function together(one: Stretch, other: Stretch): Stretch {
  return {
    fromMs: Math.min(one.fromMs, other.fromMs),
    toMs: Math.max(one.toMs, other.toMs),
    untilMs: Math.max(one.untilMs, other.untilMs),
    peak: Math.max(one.peak, other.peak),
  };
}

/** A turn of a person in a schedule; times are milliseconds since 1970, and the window is half-open. */
export interface Rotation {
  readonly id: number;
  readonly userId: number;
  readonly startsAt: number;
  readonly endsAt: number;
  /** Who stands in, from when until when; what lies outside of the window does not count. */
  readonly override: { readonly userId: number; readonly startsAt: number; readonly endsAt: number } | null;
}

/** A stretch of time in which one and the same person is on call, or nobody is. */
interface Shift {
  readonly from: number;
  readonly to: number;
  readonly userId: number | null;
}

/** Whether somebody can be reached at all: who has left the organisation is on call for nothing. */
type IsReachable = (userId: number) => boolean;

/**
 * Who is on call at a moment. Of rotations that overlap, the one that began last decides, and of those that began together
 * the one made last; where its person has left, the next one does.
 */
export function onCallAt(
  rotations: readonly Rotation[],
  at: number,
  isReachable: IsReachable,
): number | null {
  return whoAt(byPrecedence(rotations), at, isReachable);
}

/** The shifts of a range, without a gap between them: where nobody is on call there is one of nobody. */
export function shiftsBetween(
  rotations: readonly Rotation[],
  { from, to }: { readonly from: number; readonly to: number },
  isReachable: IsReachable,
): Shift[] {
  const within = byPrecedence(rotations.filter(({ startsAt, endsAt }) => startsAt < to && endsAt > from));
  const bounds = [...new Set([from, ...within.flatMap(boundsOf).filter((at) => at > from && at < to)])];
  const shifts: Shift[] = [];
  for (const start of bounds.toSorted((left, right) => left - right)) {
    const userId = whoAt(within, start, isReachable);
    const previous = shifts.at(-1);
    if (previous?.userId === userId) continue;
    if (previous !== undefined) shifts[shifts.length - 1] = { ...previous, to: start };
    shifts.push({ from: start, to, userId });
  }
  return shifts;
}

function byPrecedence(rotations: readonly Rotation[]): Rotation[] {
  return rotations.toSorted((left, right) => right.startsAt - left.startsAt || right.id - left.id);
}

function whoAt(rotations: readonly Rotation[], at: number, isReachable: IsReachable): number | null {
  for (const { userId, startsAt, endsAt, override } of rotations) {
    if (at < startsAt || at >= endsAt) continue;
    const stands = override !== null && at >= override.startsAt && at < override.endsAt;
    if (stands && isReachable(override.userId)) return override.userId;
    if (isReachable(userId)) return userId;
  }
  return null;
}

/** The moments at which a rotation may change who is on call. */
function boundsOf({ startsAt, endsAt, override }: Rotation): number[] {
  return override === null
    ? [startsAt, endsAt]
    : [startsAt, endsAt, override.startsAt, override.endsAt].filter((at) => at >= startsAt && at <= endsAt);
}

import { clusters, isCloser, type Stretch } from "./stretches.ts";

/** A stretch of true points that is recorded. */
export interface Episode extends Stretch {
  readonly id: number;
}

/** What becomes of the recorded episodes of a rule and a group. */
type EpisodeChange =
  | { readonly kind: "opened"; readonly episode: Stretch }
  /** It has more points, or a higher peak, and none less. */
  | { readonly kind: "extended"; readonly id: number; readonly episode: Stretch }
  /** Points of it are gone; null when all are. */
  | { readonly kind: "corrected"; readonly id: number; readonly episode: Stretch | null }
  /** It is a part of another one. */
  | { readonly kind: "merged"; readonly id: number; readonly into: number };

/**
 * Adds points to the episodes of a rule and a group, of a kind to which more entries only add points. In whatever order and
 * however often points come, what is recorded in the end is the same but for the ids: of episodes that turn out to be one,
 * the one recorded first stays. `recorded` holds at least every episode closer than a window to one of the stretches.
 */
export function addPoints(
  recorded: readonly Episode[],
  stretches: readonly Stretch[],
  windowMs: number,
): EpisodeChange[] {
  const isRecorded = new Map<Stretch, Episode>(recorded.map((episode) => [episode, episode]));
  return clusters<Stretch>([...recorded, ...stretches], windowMs).flatMap(({ stretch, members }) =>
    changesOf(
      stretch,
      members.flatMap((member) => isRecorded.get(member) ?? []),
    ),
  );
}

/**
 * Puts what was found in place of what is recorded, of a kind that may lose points when entries come late. `found` is all that
 * there is in a span that reaches a window beyond each of the `recorded` on both sides. An episode that falls apart goes on
 * as its first part.
 */
export function replacePoints(
  recorded: readonly Episode[],
  found: readonly Stretch[],
  windowMs: number,
): EpisodeChange[] {
  const left = new Set(recorded.toSorted((one, other) => one.id - other.id));
  const changes = clusters(found, windowMs).flatMap(({ stretch }) => {
    const own = [...left].filter((episode) => isCloser(episode, stretch, windowMs));
    for (const episode of own) left.delete(episode);
    return changesOf(stretch, own);
  });
  return [...changes, ...[...left].map(({ id }) => ({ kind: "corrected", id, episode: null }) as const)];
}

/** What makes one stretch of the episodes that were recorded of it. */
function changesOf(stretch: Stretch, recorded: readonly Episode[]): EpisodeChange[] {
  const [kept, ...others] = recorded.toSorted((one, other) => one.id - other.id);
  if (kept === undefined) return [{ kind: "opened", episode: stretch }];
  const { id } = kept;
  const merged = others.map((other) => ({ kind: "merged", id: other.id, into: id }) as const);
  if (isSame(kept, stretch)) return merged;
  const kind = recorded.every((episode) => isWithin(episode, stretch)) ? "extended" : "corrected";
  return [{ kind, id, episode: stretch }, ...merged];
}

function isSame(one: Stretch, other: Stretch): boolean {
  return (
    one.fromMs === other.fromMs &&
    one.toMs === other.toMs &&
    one.untilMs === other.untilMs &&
    one.peak === other.peak
  );
}

function isWithin(part: Stretch, whole: Stretch): boolean {
  return (
    part.fromMs >= whole.fromMs &&
    part.toMs <= whole.toMs &&
    part.untilMs <= whole.untilMs &&
    part.peak <= whole.peak
  );
}

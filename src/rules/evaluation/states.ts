/** How a rule turns what it found into incidents; all in milliseconds. */
export interface StateTimes {
  /** How long a condition must hold before anybody is told. */
  readonly forMs: number;
  /** How long an incident stays open after its condition has ended. */
  readonly keepFiringMs: number;
  /** After how long without an entry data are missing; null when that says nothing. */
  readonly noDataMs: number | null;
}

/** What is kept of a rule and a group that is not well; times are event times. */
export interface GroupState {
  readonly kind: "pending" | "firing" | "recovering" | "no_data";
  readonly sinceMs: number;
  /** Of the incident that is open, while the rule fires or recovers. */
  readonly incident: OpenIncident | null;
}

interface OpenIncident {
  readonly raisedAtMs: number;
  /** When what it is about began, and when its condition ends unless more comes. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/** An episode as far as states look at it: its condition holds in [fromMs, untilMs). */
interface ObservedEpisode {
  readonly fromMs: number;
  readonly untilMs: number;
  /** Whether an incident was raised of it, or it belongs to one. */
  readonly isReported: boolean;
}

/** What is known of a rule and a group. */
interface Observed<E extends ObservedEpisode> {
  /** All that overlap the open incident, and all that ended less than `keepFiringMs` before one of those that changed began. */
  readonly episodes: readonly E[];
  /** Where the condition on which an incident ends does not hold yet, where it is not that on which it begins. */
  readonly holds: readonly { readonly fromMs: number; readonly untilMs: number }[];
  /** The newest entry; where none came yet, since when the rule looks. */
  readonly lastDataMs: number;
}

/** What is to be told; in the order in which it happened. */
type Transition<E> =
  /** An incident opens, of this episode: or again, of one that was reported and goes on after its incident was closed. */
  | { readonly kind: "raised"; readonly atMs: number; readonly episode: E }
  /** The episode belongs to the open incident: nobody is told again. */
  | { readonly kind: "joined"; readonly episode: E }
  /** The open incident is not as it was. */
  | { readonly kind: "changed"; readonly to: "firing" | "recovering" }
  | { readonly kind: "cleared"; readonly atMs: number }
  | { readonly kind: "data_missing" | "data_returned"; readonly atMs: number };

/** The state of a group at a moment, null when all is well, and what happened since the one before. */
interface Advanced<E> {
  readonly state: GroupState | null;
  readonly transitions: readonly Transition<E>[];
}

/**
 * The state at `throughMs`, up to which everything is known of every living stream and which never goes back. What begins
 * is told as soon as it is known, for nothing that comes late takes it away; what ends, when `throughMs` has passed its end.
 * So an episode that is known only after it ended is raised and cleared at once. One incident is open of a group at a time,
 * and whatever turns up meanwhile belongs to it.
 */
export function advance<E extends ObservedEpisode>(
  state: GroupState | null,
  { episodes, holds, lastDataMs }: Observed<E>,
  times: StateTimes,
  throughMs: number,
): Advanced<E> {
  const { forMs, keepFiringMs, noDataMs } = times;
  const isDue = ({ fromMs, untilMs }: E): boolean =>
    untilMs >= fromMs + forMs && (forMs === 0 || throughMs >= fromMs + forMs);
  const open = state?.incident ?? null;
  const told: Transition<E>[] = [];
  const sorted = episodes.toSorted((left, right) => left.fromMs - right.fromMs);
  // What is over before the open incident began belongs to it only where it would have been one of its own.
  for (const episode of sorted.filter(({ untilMs }) => open !== null && untilMs < open.fromMs))
    if (isDue(episode) && !episode.isReported) told.push({ kind: "joined", episode });
  const { chains, pendingSinceMs } = chainsOf(
    open,
    sorted.filter(({ untilMs }) => open === null || untilMs >= open.fromMs),
    { holds, isDue, keepFiringMs, throughMs },
  );
  let incident: OpenIncident | null = null;
  for (const chain of chains) {
    const { fromMs, untilMs, members } = chain;
    const endMs = untilMs + keepFiringMs;
    const isOver = throughMs >= endMs;
    const isOpen = chain === chains[0] && open !== null;
    const untold = members.filter(({ isReported }) => !isReported);
    const opener = isOpen ? undefined : (untold.find(isDue) ?? (isOver ? undefined : members.at(-1)));
    if (!isOpen && opener === undefined) continue;
    const raisedAtMs = opener === undefined ? (open?.raisedAtMs ?? 0) : opener.fromMs + forMs;
    if (opener !== undefined) told.push({ kind: "raised", atMs: raisedAtMs, episode: opener });
    for (const episode of untold) if (episode !== opener) told.push({ kind: "joined", episode });
    if (isOver) told.push({ kind: "cleared", atMs: endMs });
    else incident = { raisedAtMs, fromMs, untilMs };
  }
  const missingSinceMs = noDataMs === null ? Number.POSITIVE_INFINITY : lastDataMs + noDataMs;
  // What is missing is so until an entry comes: a server that returns may set back how far everything is known.
  const isMissing =
    throughMs >= missingSinceMs || (state?.kind === "no_data" && missingSinceMs <= state.sinceMs);
  const next = stateOf(incident, pendingSinceMs, isMissing ? missingSinceMs : null, throughMs);
  return { state: next, transitions: withChanges(state, next, told, lastDataMs) };
}

/** Episodes that are, or would be, one incident. */
interface Chain<E> {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly members: readonly E[];
}

/** Episodes that follow each other before the incident of the first has ended, in ascending order; the open incident leads. */
function chainsOf<E extends ObservedEpisode>(
  open: OpenIncident | null,
  sorted: readonly E[],
  when: {
    readonly holds: Observed<E>["holds"];
    readonly isDue: (episode: E) => boolean;
    readonly keepFiringMs: number;
    readonly throughMs: number;
  },
): { readonly chains: readonly Chain<E>[]; readonly pendingSinceMs: number | null } {
  const { holds, isDue, keepFiringMs, throughMs } = when;
  const chains: Chain<E>[] = [];
  let pendingSinceMs: number | null = null;
  if (open !== null)
    chains.push({ fromMs: open.fromMs, untilMs: heldUntil(open.untilMs, holds), members: [] });
  for (const episode of sorted) {
    const { fromMs, untilMs } = episode;
    const last = chains.at(-1);
    const endMs = last === undefined ? Number.NEGATIVE_INFINITY : last.untilMs + keepFiringMs;
    if (last !== undefined && (fromMs <= endMs || throughMs < endMs))
      chains[chains.length - 1] = {
        fromMs: Math.min(last.fromMs, fromMs),
        untilMs: heldUntil(Math.max(last.untilMs, untilMs), holds),
        members: [...last.members, episode],
      };
    else if (isDue(episode)) chains.push({ fromMs, untilMs: heldUntil(untilMs, holds), members: [episode] });
    else if (throughMs < untilMs) pendingSinceMs ??= fromMs;
  }
  return { chains, pendingSinceMs };
}

/** How often in succession the evaluation of a rule fails before the rule is said to be in error. */
export const FAILURES_TO_ERROR = 3;

/** What a run of a rule does to the number of its failures in succession, and whether the rule becomes one in error or well. */
export function afterRun(
  failures: number,
  hasFailed: boolean,
): { readonly failures: number; readonly became: "error" | "well" | null } {
  if (!hasFailed) return { failures: 0, became: failures >= FAILURES_TO_ERROR ? "well" : null };
  return { failures: failures + 1, became: failures + 1 === FAILURES_TO_ERROR ? "error" : null };
}

/** Until when an incident goes on that goes on at least until then. */
function heldUntil(untilMs: number, holds: Observed<ObservedEpisode>["holds"]): number {
  return holds
    .toSorted((left, right) => left.fromMs - right.fromMs)
    .reduce((until, hold) => (hold.fromMs <= until ? Math.max(until, hold.untilMs) : until), untilMs);
}

function stateOf(
  incident: OpenIncident | null,
  pendingSinceMs: number | null,
  missingSinceMs: number | null,
  throughMs: number,
): GroupState | null {
  if (incident !== null)
    return throughMs < incident.untilMs
      ? { kind: "firing", sinceMs: incident.raisedAtMs, incident }
      : { kind: "recovering", sinceMs: incident.untilMs, incident };
  if (pendingSinceMs !== null) return { kind: "pending", sinceMs: pendingSinceMs, incident };
  if (missingSinceMs !== null) return { kind: "no_data", sinceMs: missingSinceMs, incident };
  return null;
}

/** With what the states themselves say: data that are missing or back, an incident that recovers or does so no longer. */
function withChanges<E>(
  before: GroupState | null,
  after: GroupState | null,
  told: readonly Transition<E>[],
  lastDataMs: number,
): Transition<E>[] {
  const all = [...told];
  if (before?.kind === "no_data" && after?.kind !== "no_data")
    all.unshift({ kind: "data_returned", atMs: lastDataMs });
  if (after?.kind === "no_data" && before?.kind !== "no_data")
    all.push({ kind: "data_missing", atMs: after.sinceMs });
  const isOpen = after?.kind === "firing" || after?.kind === "recovering";
  const isSame = before?.incident && !told.some(({ kind }) => kind === "cleared");
  if (isOpen && isSame && before.kind !== after.kind) all.push({ kind: "changed", to: after.kind });
  return all;
}

import type { Change } from "../../changes/change.ts";
import { addPoints, replacePoints } from "../evaluation/episodes.ts";
import { advance, type GroupState, type StateTimes } from "../evaluation/states.ts";
import type { Stretch } from "../evaluation/stretches.ts";
import { timesOf } from "./definition.ts";
import {
  endEpisode,
  episodesSince,
  insertEpisode,
  type KeptGroup,
  keepGroup,
  type LiveRule,
  noteReported,
  type StoredEpisode,
  updateEpisode,
} from "./live-store.ts";
import type { GroupFinding } from "./rule-finder.ts";
import { tellCleared, tellMissing, tellRaised, tellReturned } from "./tell.ts";

/** Writes what a live rule found into episodes, and tells what follows: in the transaction of its evaluation. */
export async function settle(
  change: Change,
  rule: LiveRule,
  findings: ReadonlyMap<string, GroupFinding>,
  kept: ReadonlyMap<string, KeptGroup>,
  throughMs: number,
): Promise<void> {
  const { windowMs, keepFiringMs } = rule.definition;
  const due = [...kept].filter(([, group]) => isDue(group, rule, throughMs)).map(([name]) => name);
  const groups = [...new Set([...findings.keys(), ...due])];
  const begins = [...findings.values()].flatMap(({ stretches }) => stretches.map(({ fromMs }) => fromMs));
  // What is judged again may have been something, and be nothing now.
  const wholes = [...findings.values()].flatMap(({ wholeFromMs }) => wholeFromMs ?? []);
  const opened = groups.flatMap((group) => {
    const state = kept.get(group)?.state;
    return state?.incident?.fromMs ?? state?.sinceMs ?? [];
  });
  const fromMs = Math.min(throughMs, ...begins, ...wholes, ...opened) - windowMs - keepFiringMs;
  const stored = Map.groupBy(await episodesSince(change.tx, rule, groups, fromMs), ({ group }) => group);
  for (const group of groups) {
    const finding = findings.get(group) ?? null;
    const recorded = stored.get(group) ?? [];
    const episodes = finding === null ? recorded : await record(change, rule, group, recorded, finding);
    await advanceGroup(change, rule, { group, episodes, finding, kept: kept.get(group) ?? null }, throughMs);
  }
}

/** What looks like an attack is over when a person says so. */
function endsByItself({ kind, definition }: LiveRule): boolean {
  return kind !== "correlation" && definition.attackTechnique === null;
}

/** Whether time alone may change a group: others that nothing came to stay as they are. */
function isDue(
  { state, judgedMs, lastDataMs }: KeptGroup,
  { definition }: LiveRule,
  throughMs: number,
): boolean {
  const { noDataMs = null } = definition;
  const isMissing = noDataMs !== null && lastDataMs !== undefined && lastDataMs + noDataMs <= throughMs;
  if (state?.kind === "no_data") return false;
  if (judgedMs !== null || isMissing) return true;
  if (state === null) return false;
  const { forMs, keepFiringMs } = definition;
  if (state.incident === null) return state.sinceMs + forMs <= throughMs;
  return state.incident.untilMs + (state.kind === "recovering" ? keepFiringMs : 0) <= throughMs;
}

async function advanceGroup(
  change: Change,
  rule: LiveRule,
  of: {
    readonly group: string;
    readonly episodes: readonly StoredEpisode[];
    readonly finding: GroupFinding | null;
    readonly kept: KeptGroup | null;
  },
  throughMs: number,
): Promise<void> {
  const { group, episodes, finding, kept } = of;
  const { definition, organizationId } = rule;
  const times = timesOf(definition);
  const lastDataMs = lastDataOf(finding, kept);
  const { state, transitions } = advance(
    kept?.state ?? null,
    { episodes, holds: finding?.holds ?? [], lastDataMs: lastDataMs ?? throughMs },
    times,
    throughMs,
  );
  for (const transition of transitions)
    if (transition.kind === "raised") {
      const { episode } = transition;
      tellRaised(
        change,
        rule,
        group,
        episode,
        finding?.because(episode.fromMs) ?? "The condition of the rule holds.",
        finding?.evidence?.(episode.fromMs) ?? [],
      );
    } else if (transition.kind === "cleared" && endsByItself(rule))
      tellCleared(change, rule, group, { atMs: transition.atMs, cause: "recovered" });
    else if (transition.kind === "data_missing") tellMissing(change, rule, group, transition.atMs);
    else if (transition.kind === "data_returned") tellReturned(change, rule, group, transition.atMs);
  const reported = transitions.flatMap((each) =>
    each.kind === "raised" || each.kind === "joined" ? [each.episode.id] : [],
  );
  await noteReported(change.tx, organizationId, reported);
  const judgedMs = finding?.judgedMs ?? kept?.judgedMs ?? null;
  const isKept = state !== null || judgedMs !== null || lastDataMs !== null;
  if (!isKept && kept === null) return;
  const nextMs = finding?.nextMs ?? (judgedMs === null ? null : judgedMs + definition.windowMs);
  const wakeMs = Math.min(
    wakeOf(state, times, throughMs),
    state?.kind === "no_data" || lastDataMs === null
      ? Number.MAX_SAFE_INTEGER
      : Math.max(lastDataMs + (times.noDataMs ?? 0), throughMs + 1),
    nextMs ?? Number.MAX_SAFE_INTEGER,
  );
  const next = { state, judgedMs, ...(lastDataMs !== null && { lastDataMs }) };
  await keepGroup(change.tx, rule, group, isKept ? next : null, Math.min(wakeMs, FAR_MS));
}

/** The newest entry that is known of a group; null where nobody asks. */
function lastDataOf(finding: GroupFinding | null, kept: KeptGroup | null): number | null {
  const times = [finding?.lastDataMs, kept?.lastDataMs].filter((ms) => ms !== undefined);
  return times.length === 0 ? null : Math.max(...times);
}

/** A time that a database can write. */
const FAR_MS = Date.parse("9999-01-01T00:00:00Z");

/** When a state changes though nothing comes. */
function wakeOf(state: GroupState | null, { forMs, keepFiringMs }: StateTimes, throughMs: number): number {
  if (state === null || state.kind === "no_data") return Number.MAX_SAFE_INTEGER;
  if (state.incident === null) return Math.max(state.sinceMs + forMs, throughMs + 1);
  const { untilMs } = state.incident;
  return throughMs < untilMs ? untilMs : untilMs + keepFiringMs;
}

/** The episodes of a group with what was found of it. */
async function record(
  { tx, nowMs }: Change,
  rule: LiveRule,
  group: string,
  recorded: readonly StoredEpisode[],
  { stretches, wholeFromMs }: GroupFinding,
): Promise<StoredEpisode[]> {
  const { organizationId, definition } = rule;
  const episodes = new Map<number, StoredEpisode>(recorded.map((episode) => [episode.id, episode]));
  const changes =
    wholeFromMs === null
      ? addPoints(recorded, stretches, definition.windowMs)
      : replaceFrom(wholeFromMs, recorded, stretches, definition.windowMs);
  for (const made of changes) {
    if (made.kind === "opened") {
      const id = await insertEpisode(tx, rule, group, made.episode, nowMs);
      episodes.set(id, { ...made.episode, id, group, isReported: false });
    } else if (made.kind === "merged" || made.episode === null) {
      await endEpisode(tx, organizationId, made.id, made.kind === "merged" ? made.into : null);
      episodes.delete(made.id);
    } else {
      await updateEpisode(tx, organizationId, made.id, made.episode);
      const isReported = episodes.get(made.id)?.isReported ?? false;
      episodes.set(made.id, { ...made.episode, id: made.id, group, isReported });
    }
  }
  return [...episodes.values()];
}

/** What is recorded from a moment on becomes what was found; what lies before stays. */
function replaceFrom(
  fromMs: number,
  recorded: readonly StoredEpisode[],
  found: readonly Stretch[],
  windowMs: number,
) {
  const near = recorded.filter(({ toMs }) => toMs >= fromMs);
  const before = near
    .filter((episode) => episode.fromMs < fromMs)
    .map((episode) => ({ ...episode, toMs: Math.min(episode.toMs, fromMs) }));
  return replacePoints(near, [...before, ...found], windowMs);
}

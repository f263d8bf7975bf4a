import { groupValues } from "../../rules/counters/groups.ts";
import type { Stretch } from "../../rules/evaluation/stretches.ts";

/** When somebody would have been told. */
export interface Told extends Stretch {
  readonly group: string;
  readonly because: string;
  /** Nobody is told: entries were older than a day when they came. */
  readonly isHistoric?: boolean;
}

export function shownEpisode(groupBy: readonly string[], told: Told) {
  const { group, fromMs, toMs, peak, because, isHistoric = false } = told;
  return {
    group: groupOf(groupBy, group),
    ...{ startedAt: timeText(fromMs), endedAt: timeText(toMs), peak, because, isHistoric },
  };
}

export function groupOf(fields: readonly string[], name: string): Record<string, string> {
  const values = groupValues(name);
  return Object.fromEntries(fields.map((field, i) => [field, values[i] ?? ""]));
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

import { groupValues } from "../../rules/counters/groups.ts";
import type { Stretch } from "../../rules/evaluation/stretches.ts";

/** When somebody would have been told. */
export interface Told extends Stretch {
  readonly group: string;
  readonly because: string;
}

export function shownEpisode(groupBy: readonly string[], { group, fromMs, toMs, peak, because }: Told) {
  return {
    group: groupOf(groupBy, group),
    ...{ startedAt: timeText(fromMs), endedAt: timeText(toMs), peak, because },
  };
}

export function groupOf(fields: readonly string[], name: string): Record<string, string> {
  const values = groupValues(name);
  return Object.fromEntries(fields.map((field, i) => [field, values[i] ?? ""]));
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

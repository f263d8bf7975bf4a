import { PatternMiner } from "../../src/mining/miner.ts";
import type { LabelledLine } from "./loghub.ts";

interface Accuracy {
  /** Grouping accuracy: lines in right groups of all lines. A group is right when it has the lines of one event, all of them. */
  readonly ga: number;
  /** F1 of groups: right groups among those made and among those there are. */
  readonly fga: number;
  readonly made: number;
  readonly events: number;
}

/** For every line the number of its pattern. */
export function minePatterns(lines: readonly string[]): number[] {
  const miner = new PatternMiner();
  const forms = lines.map((line) => miner.add(line));
  const patternOf: number[] = [];
  for (const [pattern, { forms: members }] of miner.patterns().entries())
    for (const form of members) patternOf[form] = pattern;
  return forms.map((form) => patternOf[form] ?? -1);
}

export function measureAccuracy(groups: readonly number[], lines: readonly LabelledLine[]): Accuracy {
  const linesOfEvent = new Map<string, number>();
  const linesOfGroup = new Map<number, Map<string, number>>();
  for (const [i, { event }] of lines.entries()) {
    linesOfEvent.set(event, (linesOfEvent.get(event) ?? 0) + 1);
    const group = groups[i] ?? -1;
    const events = linesOfGroup.get(group) ?? new Map<string, number>();
    linesOfGroup.set(group, events.set(event, (events.get(event) ?? 0) + 1));
  }
  let rightLines = 0;
  let rightGroups = 0;
  for (const events of linesOfGroup.values()) {
    const [[event, count] = ["", 0]] = events;
    if (events.size > 1 || linesOfEvent.get(event) !== count) continue;
    rightGroups++;
    rightLines += count;
  }
  return {
    ga: rightLines / lines.length,
    fga: (2 * rightGroups) / (linesOfGroup.size + linesOfEvent.size),
    made: linesOfGroup.size,
    events: linesOfEvent.size,
  };
}

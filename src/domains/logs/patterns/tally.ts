import { PatternMiner } from "../../../mining/miner.ts";
import { TEXT_MAX_CHARS } from "./limits.ts";
import type { Counts, MessageGroup, MessageGroups } from "./store.ts";

/** The pattern of messages of which it is not known what they have in common with others. */
const OTHER_PATTERN = "(other)";

/** What is known of a pattern in one of the two times. */
export interface PatternTally {
  count: number;
  /** Nanoseconds since 1970. */
  firstSeen: bigint;
  lastSeen: bigint;
  readonly levels: Map<string, number>;
  readonly services: Map<string, number>;
  readonly trend: Map<string, number>;
  readonly samples: Set<string>;
}

export interface TalliedPattern {
  readonly pattern: string;
  readonly isOther: boolean;
  /** Null without an entry in the window. */
  readonly current: PatternTally | null;
  /** Null without an entry in the time before. */
  readonly previous: PatternTally | null;
}

/** Finds the patterns of messages that have been counted in groups. Every group goes to one pattern, whole. */
export function tallyPatterns({ groups, areForms }: MessageGroups): TalliedPattern[] {
  const patternOf = minePatterns(groups, areForms);
  if (!areForms) dissolveSingles(groups, patternOf);
  const tallies = new Map<string, { current: PatternTally | null; previous: PatternTally | null }>();
  for (const group of groups) {
    const pattern = patternOf.get(group.id) ?? OTHER_PATTERN;
    const tally = tallies.get(pattern) ?? { current: null, previous: null };
    tallies.set(pattern, tally);
    if (group.isCurrent) tally.current = add(tally.current, group);
    else tally.previous = add(tally.previous, group);
  }
  return [...tallies].map(([pattern, tally]) => ({ pattern, isOther: pattern === OTHER_PATTERN, ...tally }));
}

/** Where not every form can be told apart, those that occur once are shown no more than others like them are. */
function dissolveSingles(groups: readonly MessageGroup[], patternOf: Map<string, string>): void {
  const entriesOf = new Map<string, number>();
  for (const { id, count } of groups) {
    const pattern = patternOf.get(id) ?? OTHER_PATTERN;
    entriesOf.set(pattern, (entriesOf.get(pattern) ?? 0) + count);
  }
  for (const [id, pattern] of patternOf) if (entriesOf.get(pattern) === 1) patternOf.set(id, OTHER_PATTERN);
}

/**
 * The pattern of each group, by its number. A group of one form has the pattern of any of its messages; one of a kind
 * has a pattern if its messages agree on it.
 */
function minePatterns(groups: readonly MessageGroup[], areForms: boolean): Map<string, string> {
  const miner = new PatternMiner();
  const formsOf = new Map<string, number[]>();
  for (const [id, texts] of textsById(groups)) {
    const looked = areForms ? texts.slice(0, 1) : texts;
    formsOf.set(
      id,
      looked.map((text) => miner.add(text)),
    );
    // Those of one form differ in their values, which shows what to call them.
    for (const text of texts) if (areForms && text.length < TEXT_MAX_CHARS) miner.add(text);
  }
  const templates: string[] = [];
  for (const { template, forms } of miner.patterns()) for (const form of forms) templates[form] = template;
  const patternOf = new Map<string, string>();
  for (const [id, forms] of formsOf) {
    const [template, ...different] = new Set(forms.map((form) => templates[form] ?? OTHER_PATTERN));
    patternOf.set(id, template === undefined || different.length > 0 ? OTHER_PATTERN : template);
  }
  return patternOf;
}

/** The messages known of each group, sorted: whole ones, if there are any. */
function textsById(groups: readonly MessageGroup[]): Map<string, string[]> {
  const textsOf = new Map<string, Set<string>>();
  for (const { id, texts } of groups) {
    const known = textsOf.get(id) ?? new Set();
    for (const text of texts) known.add(text);
    textsOf.set(id, known);
  }
  return new Map(
    [...textsOf].map(([id, texts]) => {
      const sorted = [...texts].sort();
      const whole = sorted.filter((text) => text.length < TEXT_MAX_CHARS);
      return [id, whole.length > 0 ? whole : sorted.slice(0, 1)];
    }),
  );
}

function add(tally: PatternTally | null, group: MessageGroup): PatternTally {
  const [firstSeen, lastSeen] = [BigInt(group.firstSeen), BigInt(group.lastSeen)];
  const into = tally ?? {
    count: 0,
    firstSeen,
    lastSeen,
    levels: new Map(),
    services: new Map(),
    trend: new Map(),
    samples: new Set(),
  };
  into.count += group.count;
  if (firstSeen < into.firstSeen) into.firstSeen = firstSeen;
  if (lastSeen > into.lastSeen) into.lastSeen = lastSeen;
  addCounts(into.levels, group.levels);
  addCounts(into.services, group.services);
  addCounts(into.trend, group.trend);
  for (const text of group.texts) into.samples.add(text);
  return into;
}

function addCounts(into: Map<string, number>, counts: Counts): void {
  for (const [value, count] of counts) into.set(value, (into.get(value) ?? 0) + count);
}

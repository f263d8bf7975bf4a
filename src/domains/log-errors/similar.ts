import { PatternMiner } from "../../mining/miner.ts";
import type { StoredGroup } from "./group-store.ts";
import { formOf } from "./grouping/group-error.ts";
import { SUGGESTED_MAX } from "./limits.ts";
import type { SimilarGroup } from "./types.ts";

/** Of all calls of two groups, those that both have, from which on they may be one fault. */
const SHARED_CALLS_MIN = 0.5;
/** A form without so many letters says nothing. */
const FORM_MIN_LETTERS = 6;

/** Which of the others may be the same fault: those that share calls or a pattern of messages, the most alike first. */
export function similarGroups(own: StoredGroup, others: readonly StoredGroup[]): SimilarGroup[] {
  const miner = new PatternMiner();
  const forms = [own, ...others].map(({ message }) => miner.add(message));
  const patternOf = new Map(miner.patterns().flatMap(({ forms: each }, i) => each.map((form) => [form, i])));
  const ownPattern = patternOf.get(forms[0] ?? -1);
  const isTelling = (formOf(own.message).match(/\p{L}/gu)?.length ?? 0) >= FORM_MIN_LETTERS;
  return others
    .map((other, i) => {
      const calls = own.group.groupedBy === "frames" ? sharedPart(own.keys, other.keys) : 0;
      const isSameMessage = isTelling && patternOf.get(forms[i + 1] ?? -1) === ownPattern;
      const isSameType = other.group.type === own.group.type;
      const isSameService = other.group.service === own.group.service;
      const score = calls * 4 + (isSameMessage ? 2 : 0) + (isSameType ? 1 : 0) + (isSameService ? 1 : 0);
      const why: SimilarGroup["why"] = [
        ...(calls >= SHARED_CALLS_MIN ? (["calls"] as const) : []),
        ...(isSameMessage ? (["message"] as const) : []),
      ];
      return { group: other.group, why, score };
    })
    .filter(({ why }) => why.length > 0)
    .toSorted((left, right) => right.score - left.score || right.group.id - left.group.id)
    .slice(0, SUGGESTED_MAX)
    .map(({ group, why }) => ({ group, why }));
}

/** Of the calls of both together, how many both have: 0 to 1. */
function sharedPart(left: readonly string[], right: readonly string[]): number {
  const all = new Set([...left, ...right]);
  const both = left.filter((key) => right.includes(key)).length;
  return all.size === 0 ? 0 : both / all.size;
}

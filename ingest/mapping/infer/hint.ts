import type { InferredFieldName } from "./candidates.ts";
import type { Leaf } from "./leaves.ts";

/** What a hint says about single fields: the path that holds one, or its value for all records. */
export interface HintedField {
  readonly field: InferredFieldName;
  readonly leaf: Leaf | null;
  readonly constant: string | null;
}

/** Characters of a hint that are read. */
const HINT_MAX_CHARS = 200;
const FIELD_WORDS: readonly (readonly [InferredFieldName, RegExp])[] = [
  ["timestamp", /\b(timestamps?|time|date|when)\b/i],
  ["level", /\b(level|severity|priority)\b/i],
  ["message", /\b(message|msg|text)\b/i],
  ["service", /\b(service|app|application|program)\b/i],
  ["host", /\b(host|hostname|machine|server)\b/i],
  ["traceId", /\btrace( ?id)?\b/i],
  ["spanId", /\bspan( ?id)?\b/i],
  ["event_id", /\b(event ?id|unique id|id)\b/i],
];
/** What stands between the name of a field and where it is. */
const LINK = /^\s*(?:is|are|=|:|in|from|at|comes from|stands in|called|named)\s+/i;
const FILLERS = /^(?:in|from|at|the|a|field|key|column|path|called|named|property)\s+/i;

/** Reads "time is in field X, service: checkout" against the paths of the sample. */
export function readHint(hint: string, leaves: readonly Leaf[]): HintedField[] {
  const byName = new Map(leaves.map((leaf) => [leaf.path.toLowerCase(), leaf]));
  const found = new Map<InferredFieldName, HintedField>();
  for (const clause of hint.slice(0, HINT_MAX_CHARS).split(/[,;\n]|\band\b/i)) {
    for (const [field, word] of FIELD_WORDS) {
      const match = word.exec(clause);
      if (match === null || found.has(field)) continue;
      const said = saidBehind(clause.slice(match.index + match[0].length));
      if (said === null) continue;
      const leaf = byName.get(said.toLowerCase()) ?? null;
      if (leaf !== null) found.set(field, { field, leaf, constant: null });
      else if (field === "service" || field === "host")
        found.set(field, { field, leaf: null, constant: said });
      break;
    }
  }
  return [...found.values()];
}

/** The word that a clause says a field is in; null when it says nothing of the kind. */
function saidBehind(rest: string): string | null {
  const link = LINK.exec(rest.replace(/^\s*field\s+/i, " ")) ?? null;
  if (link === null) return null;
  let said = rest.replace(/^\s*field\s+/i, " ").slice(link[0].length);
  while (FILLERS.test(said)) said = said.replace(FILLERS, "");
  const word = /^["'`]?([^\s"'`]+)["'`]?/.exec(said)?.[1]?.replace(/[.!?]$/, "") ?? "";
  return word === "" ? null : word;
}

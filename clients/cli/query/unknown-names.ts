import type { ApiClient } from "../../api/client.ts";
import { CallError } from "../../api/errors.ts";
import { escapeControls } from "../terminal/escape-controls.ts";
import { formatCount } from "../terminal/quantities.ts";

const TEXT_OR_COMMENT = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\/[^\n]*/g;
const COMPARED =
  /([A-Za-z_]\w*(?:\.\w+)*)\s*(?:[=!]=|=~|!~|[<>]=?|!?(?:has|contains|startswith|endswith|in|between|matches)\b)/g;
const DEFINED = /([A-Za-z_]\w*)\s*=(?![=~])/g;
/** Letters by which a name may differ from the one that was meant. */
const TYPOS_MAX = 2;

/**
 * Notices for the names that a query compares and that are neither columns nor attributes of recent entries: a name that is no
 * column reads as an attribute, and one that nobody has matches nothing. For queries without an answer only, as it is a guess.
 */
export async function unknownNames(api: ApiClient, query: string): Promise<string[]> {
  const text = query.replace(TEXT_OR_COMMENT, '""');
  const defined = new Set([...text.matchAll(DEFINED)].map(([, name]) => name));
  const compared = new Set(
    [...text.matchAll(COMPARED)].flatMap(([, name = ""]) => (defined.has(name) ? [] : [name])),
  );
  if (compared.size === 0) return [];
  try {
    const { fields, sampledEntries } = await api.call("GET /api/v1/logs/fields");
    if (sampledEntries === 0) return [];
    const known = fields.map(({ name }) => name);
    return [...compared]
      .filter((name) => !known.some((field) => sameName(field, name)))
      .map((name) => noticeOf(name, known, sampledEntries));
  } catch (error) {
    if (error instanceof CallError) return [];
    throw error;
  }
}

/** `attrs.x` and `x` are one; of a nested attribute the beginning may be known. */
function sameName(field: string, name: string): boolean {
  const bare = name.replace(/^attrs\./, "");
  return field === bare || field.startsWith(`${bare}.`) || bare.startsWith(`${field}.`);
}

function noticeOf(name: string, known: readonly string[], sampled: number): string {
  const meant = known.find((field) => distance(field.toLowerCase(), name.toLowerCase()) <= TYPOS_MAX);
  const hint = meant === undefined ? "" : `; did you mean ${escapeControls(meant)}?`;
  return `${name} is no column, and an attribute of none of the newest ${formatCount(Number(sampled))} entries${hint}`;
}

/** Letters to put in, leave out or change: Levenshtein's. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries())
      next.push(
        Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)),
      );
    row = next;
  }
  return row[b.length] ?? 0;
}

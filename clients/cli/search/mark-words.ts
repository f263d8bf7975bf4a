import type { SearchCondition } from "../../../query/index.ts";
import type { Colors } from "../terminal/colors.ts";
import { escapeControls } from "../terminal/escape-controls.ts";

/** Marks the words of a search wherever they stand in a text that is safe on a terminal. */
export async function wordMarker(q: string, colors: Colors): Promise<(text: string) => string> {
  if (colors.mark(q) === q) return (text) => text;
  // A third of what the program would read at every start, and few outputs are coloured.
  const { parseSearch } = await import("../../../query/index.ts");
  const parsed = parseSearch(q);
  const words = parsed.ok && parsed.condition !== null ? wantedWords(parsed.condition) : [];
  if (words.length === 0) return (text) => text;
  // The longest first: of words that begin alike, the whole one is marked.
  const alternatives = words
    .toSorted((a, b) => b.length - a.length)
    .map((word) => RegExp.escape(escapeControls(word)));
  const found = new RegExp(alternatives.join("|"), "giu");
  return (text) => text.replace(found, (word) => colors.mark(word));
}

/** The texts that must or may occur. */
function wantedWords(condition: SearchCondition): string[] {
  if (condition.kind === "text") return condition.text === "" ? [] : [condition.text];
  return condition.kind === "not" ? [] : condition.operands.flatMap(wantedWords);
}

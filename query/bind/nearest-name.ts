/** Edits beyond which a name is another name rather than a slip; short names allow fewer. */
const MAX_EDITS = 3;
/** Characters of a name that are compared: names are short, and what is longer is no slip. */
const MAX_CHARS = 64;

/** The candidate that was probably meant, whatever its case; null when none is near. */
export function nearestName(name: string, candidates: Iterable<string>): string | null {
  if (name.length > MAX_CHARS) return null;
  const wanted = name.toLowerCase();
  const allowed = Math.min(MAX_EDITS, Math.ceil(name.length / 3));
  let best: { name: string; edits: number } | null = null;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) > allowed) continue;
    const edits = editDistance(wanted, candidate.toLowerCase());
    if (edits <= allowed && (best === null || edits < best.edits)) best = { name: candidate, edits };
  }
  return best?.name ?? null;
}

/** Insertions, deletions, replacements and swaps of neighbours that make one text of the other. */
function editDistance(left: string, right: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, i) => i);
  for (let i = 1; i <= left.length; i++) {
    const current = [i];
    for (let j = 1; j <= right.length; j++) {
      const isSame = left[i - 1] === right[j - 1];
      const options = [
        (previous[j] ?? 0) + 1,
        (current[j - 1] ?? 0) + 1,
        (previous[j - 1] ?? 0) + (isSame ? 0 : 1),
      ];
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1])
        options.push((before[j - 2] ?? 0) + 1);
      current.push(Math.min(...options));
    }
    before = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}

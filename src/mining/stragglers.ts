import { countWords, type Form, type FormToken, textOf } from "./form.ts";
import { STRAGGLER_PATTERNS_MAX_COUNT, STRAGGLER_VALUE_TOKENS_MAX_COUNT } from "./limits.ts";

/** Words that a form shares with the pattern it joins, beside the places of values. */
const SHARED_WORDS_MIN_COUNT = 2;

const VALUE_CHUNK = "\u0001";

interface Candidate {
  readonly form: Form;
  readonly text: string;
  readonly chunks: readonly Form[];
}

/**
 * Puts forms to the pattern from which they differ only where it has values, by what a value looks like there: a host
 * with a port beside addresses, a name with a number in brackets beside numbers. What stands in such a place has no
 * gap in it and a value among its tokens. For each form the one it becomes; the pattern has fewer tokens, so that no
 * two forms become each other.
 */
export function joinStragglers(forms: readonly Form[]): Form[] {
  const alike = new Map<string, Candidate[]>();
  for (const form of forms) {
    const chunks = chunksOf(form);
    const { key, words } = outlineOf(chunks);
    if (words < SHARED_WORDS_MIN_COUNT) continue;
    const candidate = { form, chunks, text: textOf(form) };
    const others = alike.get(key);
    if (others === undefined) alike.set(key, [candidate]);
    else others.push(candidate);
  }
  const joined = new Map<Form, Form>();
  for (const candidates of alike.values()) {
    if (candidates.length < 2) continue;
    candidates.sort((a, b) => a.form.length - b.form.length || (a.text < b.text ? -1 : 1));
    const patterns = candidates.slice(0, STRAGGLER_PATTERNS_MAX_COUNT);
    for (const straggler of candidates) {
      const pattern = patterns.find((each) => takes(each, straggler));
      if (pattern !== undefined) joined.set(straggler.form, pattern.form);
    }
  }
  return forms.map((form) => joined.get(form) ?? form);
}

/** What lies between the gaps of a form. */
function chunksOf(form: Form): Form[] {
  const chunks: Form[] = [];
  let chunk: FormToken[] = [];
  for (const token of form) {
    if (token.text !== " ") chunk.push(token);
    else if (chunk.length > 0) {
      chunks.push(chunk);
      chunk = [];
    }
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}

/** What forms have in common that may be of one pattern, and the words in it. */
function outlineOf(chunks: readonly Form[]): { key: string; words: number } {
  let key = "";
  let words = 0;
  for (const chunk of chunks) {
    const hasValue = chunk.some(({ isValue }) => isValue);
    key += `${hasValue ? VALUE_CHUNK : textOf(chunk)} `;
    if (!hasValue) words += countWords(chunk);
  }
  return { key, words };
}

function takes(pattern: Candidate, straggler: Candidate): boolean {
  if (pattern.form.length >= straggler.form.length) return false;
  return pattern.chunks.every((chunk, i) => takesChunk(chunk, straggler.chunks[i] ?? []));
}

/** Whether a chunk is the other one with one of its values in the place of several tokens. */
function takesChunk(pattern: Form, chunk: Form): boolean {
  const longer = chunk.length - pattern.length;
  if (longer < 0) return false;
  let start = 0;
  while (start < pattern.length && pattern[start] === chunk[start]) start++;
  if (longer === 0) return start === pattern.length;
  if (longer >= STRAGGLER_VALUE_TOKENS_MAX_COUNT) return false;
  let rest = 0;
  while (rest < pattern.length && pattern.at(-1 - rest) === chunk.at(-1 - rest)) rest++;
  const latest = Math.min(start, pattern.length - 1);
  for (let place = Math.max(0, pattern.length - 1 - rest); place <= latest; place++) {
    if (pattern[place]?.isValue !== true) continue;
    if (chunk.slice(place, place + longer + 1).some(({ isValue }) => isValue)) return true;
  }
  return false;
}

import { caseVariants, isAscii } from "../case-folding.ts";

/**
 * A text to look for that is known when the query is compiled, whatever the case, exact for every script (see
 * `case-folding.ts`). `lower` maps ASCII only, so a needle without cased letters beyond ASCII is looked for byte for
 * byte in `lower(text)`, which is also what the n-gram index of the messages answers. Any other needle becomes a
 * pattern that lists the variants of each letter. ClickHouse's own case-insensitive functions are not used: they know
 * an old Unicode, and whether they match some letters depends on where these stand.
 */
export interface Needle {
  /** How `lower(text)` spells it; null when that has several ways. */
  readonly bytes: string | null;
  /** What matches it in `lower(text)`, as a regular expression. */
  readonly pattern: string;
  /** Parts that `lower(text)` spells in one way only and that are long enough for the index; none if `bytes` is there. */
  readonly runs: readonly string[];
}

/** The longest part of the text, in bytes, that `lower(text)` spells in one way only; empty when there is none. */
export function longestRun(text: string): string {
  const runs = splitRuns([...text.toWellFormed()].map(readCharacter));
  return runs.reduce(
    (longest, run) => (Buffer.byteLength(run) > Buffer.byteLength(longest) ? run : longest),
    "",
  );
}

/** The length of the grams in the index of the messages: a shorter run rules nothing out. */
export const INDEX_GRAM_CHARS = 6;

interface NeedleCharacter {
  readonly bytes: string | null;
  readonly pattern: string;
}

export function readNeedle(text: string): Needle {
  const characters = [...text.toWellFormed()].map(readCharacter);
  const pattern = characters.map((character) => character.pattern).join("");
  if (characters.every(({ bytes }) => bytes !== null))
    return { bytes: characters.map(({ bytes }) => bytes).join(""), pattern, runs: [] };
  return { bytes: null, pattern, runs: byteRuns(characters) };
}

/** As `lower(text)` has it: ASCII letters in lower case, everything else as it is. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The value of a LIKE that finds the text anywhere. */
export function likeAnywhere(text: string): string {
  return `%${text.replace(/[\\%_]/g, "\\$&")}%`;
}

/** The text as RE2 reads it; a zero byte would end the pattern. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.|?*+()[\]{}]/g, "\\$&").replaceAll("\0", "\\x00");
}

/** A letter or a digit, in any script: what terms are made of. */
export function isTermCharacter(character: string | undefined): boolean {
  return character !== undefined && /^[\p{L}\p{N}]$/u.test(character);
}

function readCharacter(character: string): NeedleCharacter {
  const variants = caseVariants(character);
  if (variants.length > 1 && !isAscii(character)) return { bytes: null, pattern: `[${variants.join("")}]` };
  const bytes = isAscii(character) ? character.toLowerCase() : character;
  return { bytes, pattern: escapePattern(bytes) };
}

function byteRuns(characters: readonly NeedleCharacter[]): string[] {
  return splitRuns(characters).filter((run) => [...run].length >= INDEX_GRAM_CHARS);
}

/** The parts between characters that are spelled in several ways. */
function splitRuns(characters: readonly NeedleCharacter[]): string[] {
  const runs: string[] = [""];
  for (const { bytes } of characters) {
    if (bytes === null) runs.push("");
    else runs[runs.length - 1] += bytes;
  }
  return runs;
}

/** The most characters of one pattern of many texts: with more RE2 leaves its fast way. */
const MAX_PATTERN_CHARS = 8_000;

/** The patterns in groups, each of which RE2 matches fast as a choice; none is empty. */
export function patternGroups(patterns: readonly string[]): string[][] {
  const groups: string[][] = [];
  let chars = MAX_PATTERN_CHARS;
  for (const pattern of patterns) {
    chars += pattern.length;
    if (chars > MAX_PATTERN_CHARS) {
      groups.push([]);
      chars = pattern.length;
    }
    groups.at(-1)?.push(pattern);
  }
  return groups;
}

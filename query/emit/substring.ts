import { caseVariants, isAscii } from "../case-folding.ts";
import type { Expression } from "../expression.ts";
import type { ExpressionWriter } from "./expression-writer.ts";

/**
 * Substring search whatever the case, exact for every script (see `case-folding.ts`). `lower` maps ASCII only, so a
 * needle without cased letters beyond ASCII is searched byte for byte in `lower(text)`: a LIKE of this form is also
 * what the n-gram index of the messages answers. Any other needle becomes a pattern that lists the variants of each
 * letter, behind the cheap conditions that follow from it. ClickHouse's own case-insensitive functions are not used:
 * they know an old Unicode, and whether they match some letters depends on where these stand.
 */
export function writeContains(writer: ExpressionWriter, text: Expression, needle: Expression): void {
  if (needle.kind !== "literal" || needle.type !== "string")
    throw new TypeError("the second operand of contains is a literal");
  const characters = [...needle.value.toWellFormed()].map(readCharacter);
  if (characters.every((character) => character.bytes !== null)) {
    writeLike(writer, text, characters);
    return;
  }
  writer.out.text("(");
  for (const run of byteRuns(characters)) {
    writeLike(writer, text, run);
    writer.out.text(" AND ");
  }
  writer.out.text("NOT isASCII(");
  writer.write(text);
  writer.out.text(") AND match(lower(");
  writer.write(text);
  writer.out.text("), ");
  writer.out.parameter("String", characters.map(({ pattern }) => pattern).join(""));
  writer.out.text("))");
}

/** The length of the grams in the index of the messages: a shorter run rules nothing out. */
const INDEX_GRAM_CHARS = 6;

interface NeedleCharacter {
  /** How `lower(text)` spells it; null when that has several ways. */
  readonly bytes: string | null;
  /** What matches it in `lower(text)`, as a regular expression. */
  readonly pattern: string;
}

function readCharacter(character: string): NeedleCharacter {
  const variants = caseVariants(character);
  if (variants.length > 1 && !isAscii(character)) return { bytes: null, pattern: `[${variants.join("")}]` };
  const bytes = isAscii(character) ? character.toLowerCase() : character;
  return { bytes, pattern: escapePattern(bytes) };
}

/** The longest runs that are spelled in one way only, those too short for the index left out. */
function byteRuns(characters: readonly NeedleCharacter[]): NeedleCharacter[][] {
  const runs: NeedleCharacter[][] = [[]];
  for (const character of characters) {
    if (character.bytes === null) runs.push([]);
    else runs.at(-1)?.push(character);
  }
  return runs.filter((run) => run.length >= INDEX_GRAM_CHARS);
}

function writeLike(writer: ExpressionWriter, text: Expression, needle: readonly NeedleCharacter[]): void {
  writer.out.text("(lower(");
  writer.write(text);
  writer.out.text(") LIKE ");
  writer.out.parameter("String", `%${needle.map(({ bytes }) => escapeLike(bytes ?? "")).join("")}%`);
  writer.out.text(")");
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

/** As RE2 reads it; a zero byte would end the pattern. */
function escapePattern(character: string): string {
  return character === "\0" ? "\\x00" : character.replace(/[\\^$.|?*+()[\]{}]/, "\\$&");
}

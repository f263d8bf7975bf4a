import { isAscii } from "../case-folding.ts";
import { isTermCharacter } from "../functions/needles.ts";
import { undecided } from "./row.ts";
import { foldText } from "./search-index.ts";

/** Tests a text against a constant one. */
type TextTest = (text: string) => boolean;

/** The operators of `functions/string-operators.ts` and `functions/term-search.ts`, by name, for a constant needle. */
export const TEXT_OPERATORS: ReadonlyMap<string, (needle: string) => TextTest> = new Map([
  ["contains", whateverCase((text, needle) => text.includes(needle))],
  ["containsCs", (needle) => (text) => text.includes(needle)],
  ["startswith", whateverCase((text, needle) => text.startsWith(needle))],
  ["startswithCs", (needle) => (text) => text.startsWith(needle)],
  ["endswith", whateverCase((text, needle) => text.endsWith(needle))],
  ["endswithCs", (needle) => (text) => text.endsWith(needle)],
  ["equalIgnoreCase", whateverCase((text, needle) => text === needle)],
  ["has", term({ startsTerm: true, endsTerm: true, ignoresCase: true })],
  ["hasCs", term({ startsTerm: true, endsTerm: true, ignoresCase: false })],
  ["hasprefix", term({ startsTerm: true, endsTerm: false, ignoresCase: true })],
  ["hasprefixCs", term({ startsTerm: true, endsTerm: false, ignoresCase: false })],
  ["hassuffix", term({ startsTerm: false, endsTerm: true, ignoresCase: true })],
  ["hassuffixCs", term({ startsTerm: false, endsTerm: true, ignoresCase: false })],
]);

interface TermRule {
  readonly startsTerm: boolean;
  readonly endsTerm: boolean;
  readonly ignoresCase: boolean;
}

/** Letters of these scripts have been the same in every version of Unicode that matters here. */
const SETTLED =
  /^[\u0080-\u02af\u0391-\u03a1\u03a3-\u03c9\u0400-\u0481\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5]$/u;

function whateverCase(test: (text: string, needle: string) => boolean): (needle: string) => TextTest {
  return (needle) => {
    const folded = foldText(needle);
    return (text) => test(foldText(text), folded);
  };
}

function term(rule: TermRule): (needle: string) => TextTest {
  return (needle) => {
    if (needle === "") return () => true;
    const characters = [...needle.toWellFormed()];
    const spell = rule.ignoresCase ? foldText : (text: string) => text;
    const folded = Array.from(characters, spell);
    const needsStart = rule.startsTerm && isTermCharacter(characters[0]);
    const needsEnd = rule.endsTerm && isTermCharacter(characters.at(-1));
    const plain = folded.join("");
    return (text) => {
      // Where every character is one unit, places in the folded text are those in the text.
      if (isAscii(text)) return holdsTerm(text, spell(text), plain, needsStart, needsEnd);
      const original = [...text];
      return holdsTerm(original, original.map(spell), folded, needsStart, needsEnd);
    };
  };
}

/** Texts or lists of characters. */
interface Characters {
  readonly length: number;
  readonly [index: number]: string;
}

function holdsTerm(
  original: Characters,
  folded: Characters,
  needle: Characters,
  needsStart: boolean,
  needsEnd: boolean,
): boolean {
  let isDoubtful = false;
  for (let at = 0; at + needle.length <= folded.length; at++) {
    if (!standsAt(folded, needle, at)) continue;
    const before = needsStart ? original[at - 1] : undefined;
    const after = needsEnd ? original[at + needle.length] : undefined;
    if (isDoubtfulCharacter(before) || isDoubtfulCharacter(after)) isDoubtful = true;
    else if (!isTermCharacter(before) && !isTermCharacter(after)) return true;
  }
  return isDoubtful ? undecided() : false;
}

function standsAt(text: Characters, needle: Characters, at: number): boolean {
  for (let i = 0; i < needle.length; i++) if (text[at + i] !== needle[i]) return false;
  return true;
}

/** Whether the store may take the character for a letter when this runtime does not, or the other way round. */
function isDoubtfulCharacter(character: string | undefined): boolean {
  return character !== undefined && !isAscii(character) && !SETTLED.test(character);
}

/**
 * Which characters are the same letter. Two characters are when their upper case has the same lower case, each
 * mapped alone and only where the mapping is one character: so σ, ς and Σ are one letter, ß and ss are not, and
 * nothing depends on neighbours or a language. ASCII letters are the same as ASCII letters only: the Kelvin sign is
 * no k and the dotless ı no i, which is what lets the store search bytes.
 */

/**
 * Letters that mapping a folded letter back to upper case does not find, each behind its folded form: signs that
 * share their letter (µ, Å, Ω), letter variants (ς, ϐ), title case (ǅ, ᾈ).
 */
const UNREACHED_PAIRS =
  "\u03bc\u00b5\u00e5\u212b\u00df\u1e9e\u01c6\u01c5\u01c9\u01c8\u01cc\u01cb\u01f3\u01f2\u03b9\u0345\u03b9\u1fbe" +
  "\u03b2\u03d0\u03b5\u03f5\u03b8\u03d1\u03b8\u03f4\u03ba\u03f0\u03c0\u03d6\u03c1\u03f1\u03c3\u03c2\u03c6\u03d5" +
  "\u03c9\u2126\u0432\u1c80\u0434\u1c81\u043e\u1c82\u0441\u1c83\u0442\u1c84\u0442\u1c85\u044a\u1c86\u0463\u1c87" +
  "\ua64b\u1c88\u1e61\u1e9b" +
  "\u1f80\u1f88\u1f81\u1f89\u1f82\u1f8a\u1f83\u1f8b\u1f84\u1f8c\u1f85\u1f8d\u1f86\u1f8e\u1f87\u1f8f" +
  "\u1f90\u1f98\u1f91\u1f99\u1f92\u1f9a\u1f93\u1f9b\u1f94\u1f9c\u1f95\u1f9d\u1f96\u1f9e\u1f97\u1f9f" +
  "\u1fa0\u1fa8\u1fa1\u1fa9\u1fa2\u1faa\u1fa3\u1fab\u1fa4\u1fac\u1fa5\u1fad\u1fa6\u1fae\u1fa7\u1faf" +
  "\u1fb3\u1fbc\u1fc3\u1fcc\u1ff3\u1ffc";

const UNREACHED: ReadonlyMap<string, readonly string[]> = Map.groupBy(
  Array.from({ length: UNREACHED_PAIRS.length / 2 }, (_, i) => UNREACHED_PAIRS.charAt(2 * i + 1)),
  foldCharacter,
);

/** The one character that stands for all that are the same letter; `character` is one code point. */
export function foldCharacter(character: string): string {
  if (isAscii(character)) return character.toLowerCase();
  const upper = mapAlone(character, character.toUpperCase());
  const folded = mapAlone(upper, upper.toLowerCase());
  return isAscii(folded) ? character : folded;
}

/** Every character that is the same letter as `character`, which is one code point; itself included. */
export function caseVariants(character: string): readonly string[] {
  const folded = foldCharacter(character);
  if (isAscii(character)) return [...new Set([folded, folded.toUpperCase()])];
  const upper = mapAlone(folded, folded.toUpperCase());
  return [...new Set([folded, isAscii(upper) ? folded : upper, character, ...(UNREACHED.get(folded) ?? [])])];
}

/** True for a text, or a character, of ASCII alone. */
export function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

/** The mapped text where it is one code point, else the character unmapped. */
function mapAlone(character: string, mapped: string): string {
  const codePoint = mapped.codePointAt(0) ?? 0;
  return mapped.length === (codePoint > 0xffff ? 2 : 1) ? mapped : character;
}

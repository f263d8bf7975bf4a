/** Letters that `lowerUTF8` leaves apart from the letter that they are, behind each its letter. */
const VARIANTS = "µςϐϑϕϖϰϱϵᲀᲁᲂᲃᲄᲅᲆᲇᲈẛ\u0345\u1fbe";
const LETTERS = "μσβθφπκρεвдосттъѣꙋṡιι";

/**
 * The SQL of a text with every character in the one form of its letter (see `case-folding.ts`), for a comparison with
 * another such text. Two characters that `lowerUTF8` would make ASCII, or longer, are kept apart as noncharacters.
 * `text` must be shared.
 */
export function foldedText(text: string): string {
  const guarded = `translateUTF8(${text}, '\u212a\u0130', '\ufdd0\ufdd1')`;
  return `if(isASCII(${text}), lower(${text}), translateUTF8(lowerUTF8(${guarded}), '${VARIANTS}', '${LETTERS}'))`;
}

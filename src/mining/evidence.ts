/**
 * How many different words make a place in a message a place of values, by the number of words around it that the
 * messages share: the more they have in common, the fewer it takes. Nothing in common proves nothing.
 */
const NEEDED_BY_SHARED_WORDS = [Number.POSITIVE_INFINITY, 24, 14, 6, 5];

/** Different words that prove a place of values between that many shared words. */
export function neededWords(sharedWords: number): number {
  return (
    NEEDED_BY_SHARED_WORDS[Math.min(sharedWords, NEEDED_BY_SHARED_WORDS.length - 1)] ??
    Number.POSITIVE_INFINITY
  );
}

/**
 * The words of a message as a text, for an index of the log store. Each run of ASCII letters in it, in lower case, is a token of that
 * text: as it is where letters and digits of any script stand on neither side of it in the message, so where it is a term, and with a
 * zero on each side where they do. So a token is a term, exactly; and letters stand side by side in the message exactly where they do in a
 * token. Digits are nowhere, and neither is what letters beyond ASCII are: the index has few tokens, whatever the messages are.
 */

/** What the index is called in the log store. */
export const WORD_INDEX = "message_words";

/** The token of messages with characters beyond ASCII, and of no others. */
export const BEYOND_ASCII_TOKEN = "1";

/** A token that no message has: where it is looked for, only rows without the index have to be read. */
export const ABSENT_TOKEN = "2";

/** Letters alone are what the words of a message have all of. */
export function isOfAsciiLetters(text: string): boolean {
  return /^[A-Za-z]+$/.test(text);
}

/** Fewer letters stand in too many tokens to look them up. */
export const WORD_PART_MIN_CHARS = 3;

/**
 * Letters that stand in a token of every message with the text, of which they are a part: the longest of its runs, with a zero where a
 * digit stands beside it; undefined where all are too short.
 */
export function wordPartOf(text: string): string | undefined {
  const spelt = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()).replaceAll(/[0-9]/g, "0");
  const parts = [...spelt.matchAll(/0?([a-z]+)0?/g)].filter(
    ([, run = ""]) => run.length >= WORD_PART_MIN_CHARS,
  );
  const [longest] = parts.map(([part]) => part).toSorted((a, b) => b.length - a.length);
  return longest;
}

/**
 * The words of the message that `column` holds, in SQL. The store uses its index where it finds this very text, as it writes it
 * itself: another name of a function, or another order, means the same and is computed for every row.
 */
export function messageWords(column: string): string {
  const ofTerms = `replaceRegexpAll(lower(${column}), '[^\\\\p{L}\\\\p{N}]+', ' ')`;
  const beyondAscii = `concat('${BEYOND_ASCII_TOKEN} ', replaceRegexpAll(${ofTerms}, '[^ a-z]+', '0'))`;
  const ascii = `translate(lower(${column}), '0123456789', '0000000000')`;
  return `replaceAll(if(isValidASCII(${column}), ${ascii}, ${beyondAscii}), '0', '0 0')`;
}

/**
 * Settings of a statement that looks for words: parts of words are looked up among all of them, however many they are, and before
 * anything is read, which takes less time than to look them up again for each piece that is read.
 */
export const WORD_SETTINGS = {
  use_skip_indexes_on_data_read: "0",
  text_index_like_min_pattern_length: "1",
  text_index_like_max_postings_to_read: "100000",
} as const;

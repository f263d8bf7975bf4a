/** Part of a word; also everything beyond ASCII. */
export const LETTER = 0;
export const DIGIT = 1;
/** Blanks and control characters. */
export const SPACE = 2;
/** Stands between words and is a token of its own. */
export const PUNCTUATION = 3;

const DELIMITERS = `=,()[]{}<>"';|:`;

const CLASSES = classTable();

/** The class of the character of a message at an offset. */
export function classAt(message: string, at: number): number {
  const code = message.charCodeAt(at);
  return code < 128 ? (CLASSES[code] ?? LETTER) : LETTER;
}

function classTable(): Uint8Array {
  const classes = new Uint8Array(128).fill(LETTER);
  classes.fill(SPACE, 0, 33);
  classes[127] = SPACE;
  for (let code = 48; code < 58; code++) classes[code] = DIGIT;
  for (const character of DELIMITERS) classes[character.charCodeAt(0)] = PUNCTUATION;
  return classes;
}

import { VALUE_MARK } from "./tokenizer.ts";
import { ENTITY_WORDS, FUNCTION_WORDS } from "./vocabulary.ts";

/** A token of forms; equal ones are one object within a `TokenTable`. */
export interface FormToken {
  readonly text: string;
  /** 32 bits, the same in every process. */
  readonly hash: number;
  readonly isValue: boolean;
  /** Neither a value nor a delimiter. */
  readonly isWord: boolean;
  /** A word that stands for something, which another word may stand for elsewhere. */
  readonly isName: boolean;
  /** A word that is written like a state: in capitals, or ending in -ed or -ing. */
  readonly isState: boolean;
  readonly isEntity: boolean;
  /** What is the same in codes of one kind, as in `HH-AB` and `KI-CD`: of capitals, and hyphens between them; empty for any other word. */
  readonly codeShape: string;
  /** A word without small letters: the name of a constant says what it is, and not what it is of. */
  readonly isConstant: boolean;
  /** A word that says what is being done, as in `removing`. */
  readonly isAct: boolean;
  /** A quote or bracket that something stands behind, or before. */
  readonly isOpening: boolean;
  readonly isClosing: boolean;
}

/** What messages that differ in their values alone have in common. */
export type Form = readonly FormToken[];

const WORD = /[\p{L}\p{N}]/u;
const LETTER_NAME = /^[A-Z]$/;
const CAPITALS = /^[A-Z]+(?:-[A-Z]+)*$/;
const ACT = /^[A-Za-z]{3,}ing$/;
const OPENING = new Set(["[", "(", "{", '"', "'"]);
const CLOSING = new Set(["]", ")", "}", '"', "'"]);
const PARTICIPLE = /^[A-Za-z]{3,}(?:ed|ing)$/;

export class TokenTable {
  readonly #tokens = new Map<string, FormToken>();

  token(text: string): FormToken {
    let token = this.#tokens.get(text);
    if (token === undefined) {
      token = describe(text);
      this.#tokens.set(text, token);
    }
    return token;
  }
}

function describe(text: string): FormToken {
  const isWord = WORD.test(text);
  const lower = text.toLowerCase();
  return {
    text,
    hash: Bun.hash.cityHash32(text),
    isValue: text === VALUE_MARK,
    isWord,
    // A capital by itself is a name: `disk A` is no article.
    isName: isWord && (LETTER_NAME.test(text) || !FUNCTION_WORDS.has(lower)),
    isState: isWord && (text === text.toUpperCase() || PARTICIPLE.test(text)),
    isEntity: ENTITY_WORDS.has(lower),
    codeShape: CAPITALS.test(text) ? text.replace(/[A-Z]/g, "A") : "",
    isConstant: isWord && text === text.toUpperCase(),
    isAct: ACT.test(text),
    isOpening: OPENING.has(text),
    isClosing: CLOSING.has(text),
  };
}

export function textOf(form: Form): string {
  let text = "";
  for (const token of form) text += token.text;
  return text;
}

export function countWords(form: Form): number {
  let words = 0;
  for (const { isWord } of form) if (isWord) words++;
  return words;
}

/** Mixes a number into another one that depends on its place among others; 32 bits, signed. */
export function mix(hash: number, index: number, multiplier: number): number {
  let mixed = Math.imul(hash ^ Math.imul(index + 1, 0x27d4eb2f), multiplier);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 13);
}

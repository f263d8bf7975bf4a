import type { Form } from "./form.ts";
import { Tokenizer } from "./tokenizer.ts";
import { UNIT_WORDS } from "./vocabulary.ts";

/** What a template has in the place of a value. */
const WILDCARD = "<*>";

/** A name may have a number in it (`sha256`, `jk2_init`); what has more digits is data. */
const NAME_MAX_DIGITS = 3;

/** A number and, as a group, what measures it. */
const QUANTITY = /^[-+<>~]*\d[\d.,]*(\s*(?:[A-Za-z]+\.?|%))$/;

/** Three letters or more of which one at least is no digit in base 16. */
const NAME_BEFORE_NUMBER = /[g-zG-Z].*[A-Za-z]{2}$/;

/**
 * The text of a pattern: the words of its messages, `<*>` for what differs. Of what is a value in every message the parts
 * stay that all examples share and that are words by themselves, such as `blk_` before a number and the unit after it.
 * `isFound` says of a place whether it was found to be one of values by the words that stand there.
 */
export function renderTemplate(
  pattern: Form,
  isFound: (index: number) => boolean,
  examples: readonly string[],
): string {
  const tokenizer = new Tokenizer();
  const readings = examples.map((example) => {
    tokenizer.read(example);
    return pattern.map((_, i) => tokenizer.text(i));
  });
  let template = "";
  for (const [i, token] of pattern.entries()) {
    if (token.isValue)
      template += renderValue(
        isFound(i),
        readings.map((reading) => reading[i] ?? ""),
      );
    else template += token.text === " " ? " " : (readings[0]?.[i] ?? "");
  }
  return template;
}

function renderValue(isFound: boolean, texts: readonly string[]): string {
  const [text = "", ...others] = texts;
  if (isFound) return `${wordBefore(texts)}${WILDCARD}`;
  if (others.length > 0 && isName(text) && others.every((other) => other === text)) return text;
  const units = new Set(texts.map((value) => QUANTITY.exec(value)?.[1] ?? ""));
  const [unit = ""] = units;
  return `${wordBefore(texts)}${WILDCARD}${units.size === 1 && isUnit(unit) ? unit : ""}`;
}

/** Whether a value that is the same everywhere is one by its shape alone: an address of somebody is data even so. */
function isName(text: string): boolean {
  return /^[^\d@]+[^@]*$/.test(text) && (text.match(/\d/g)?.length ?? 0) <= NAME_MAX_DIGITS;
}

/** The part of a common beginning that is no data: without digits, and up to a sign that ends a word or to a number. */
function wordBefore(texts: readonly string[]): string {
  const letters = /^\D*/.exec(texts.reduce(commonPrefix))?.[0] ?? "";
  const isBeforeNumbers = texts.every((text) => /^\d/.test(text.slice(letters.length)));
  if (isBeforeNumbers && NAME_BEFORE_NUMBER.test(letters)) return letters;
  return /^.*[^A-Za-z\s]/s.exec(letters)?.[0] ?? "";
}

function isUnit(text: string): boolean {
  const word = text.trim().replace(/\.$/, "");
  return word === "%" || UNIT_WORDS.has(word.toLowerCase());
}

function commonPrefix(left: string, right: string): string {
  let length = 0;
  while (length < left.length && left.charCodeAt(length) === right.charCodeAt(length)) length++;
  return left.slice(0, length);
}

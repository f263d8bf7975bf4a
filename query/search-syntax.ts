import { QueryError, type QueryErrorCode } from "./errors.ts";
import { SEARCH_TERMS_MAX_COUNT, SEARCH_TEXT_MAX_CHARS } from "./limits.ts";
import type { Span } from "./span.ts";

/** A condition on one text. `all` and `any` have at least two operands. */
export type SearchCondition =
  | { readonly kind: "text"; readonly text: string; readonly span: Span }
  | { readonly kind: "not"; readonly operand: SearchCondition }
  | { readonly kind: "all"; readonly operands: readonly SearchCondition[] }
  | { readonly kind: "any"; readonly operands: readonly SearchCondition[] };

export type SearchParse =
  /** The condition is null when the text holds no term: every message matches. */
  | { readonly ok: true; readonly condition: SearchCondition | null }
  | { readonly ok: false; readonly error: QueryError };

/**
 * Reads the text of `q`. Every text within the limits has a meaning:
 *
 * - A word is what stands between white space; a message matches when it holds all words, in any order and as parts
 *   of larger words, whatever the case.
 * - `"a phrase"` is searched as it stands, white space included, with `\"` for a quote; a phrase that is not closed
 *   ends with the text. A quote inside a word is an ordinary character.
 * - `-word` and `-"a phrase"` must not occur. A hyphen alone is a word.
 * - `OR` between two terms separates alternatives, each of them the terms on its side: `a b OR c` matches messages
 *   with a and b, and those with c. An `OR` that does not stand between two terms is a word, and so is `or`.
 * - Everything else, brackets too, is an ordinary character.
 */
export function parseSearch(text: string): SearchParse {
  if (text.length > SEARCH_TEXT_MAX_CHARS && [...text].length > SEARCH_TEXT_MAX_CHARS)
    return refuse("TEXT_TOO_LONG", `longer than ${SEARCH_TEXT_MAX_CHARS} characters`, {
      start: SEARCH_TEXT_MAX_CHARS,
      end: text.length,
    });
  const terms = readTerms(text);
  const excess = terms[SEARCH_TERMS_MAX_COUNT];
  if (excess !== undefined)
    return refuse("TOO_MANY_TERMS", `more than ${SEARCH_TERMS_MAX_COUNT} terms`, excess.span);
  const alternatives = splitAtOr(terms).map((group) => combine("all", group.map(toCondition)));
  return {
    ok: true,
    condition: combine(
      "any",
      alternatives.filter((alternative) => alternative !== null),
    ),
  };
}

interface Term {
  /** False for a phrase and for anything negated: those are never an operator. */
  readonly isBare: boolean;
  readonly isNegated: boolean;
  readonly text: string;
  readonly span: Span;
}

/** An optional hyphen before a phrase, or before a word. */
const TERM = /(-?)"((?:\\"|[^"])*)(?:"|$)|(-?)(\S+)/gu;

/** The terms in their order; phrases without a character say nothing and are left out. */
function readTerms(text: string): Term[] {
  const terms: Term[] = [];
  for (const match of text.matchAll(TERM)) {
    const [whole, phraseHyphen, phrase, wordHyphen, word] = match;
    const span = { start: match.index, end: match.index + whole.length };
    if (word !== undefined) {
      const isNegated = wordHyphen !== "";
      terms.push({ isBare: !isNegated, isNegated, text: word, span });
    } else if (phrase !== undefined && phrase !== "") {
      terms.push({
        isBare: false,
        isNegated: phraseHyphen !== "",
        text: phrase.replaceAll('\\"', '"'),
        span,
      });
    }
  }
  return terms;
}

/** The groups of terms between the operators `OR`; no group is empty unless there is no term at all. */
function splitAtOr(terms: readonly Term[]): Term[][] {
  const groups: Term[][] = [];
  let group: Term[] = [];
  for (const [i, term] of terms.entries()) {
    const isOperator = term.isBare && term.text === "OR" && group.length > 0 && i < terms.length - 1;
    if (!isOperator) {
      group.push(term);
    } else {
      groups.push(group);
      group = [];
    }
  }
  groups.push(group);
  return groups;
}

function toCondition({ text, isNegated, span }: Term): SearchCondition {
  const condition: SearchCondition = { kind: "text", text, span };
  return isNegated ? { kind: "not", operand: condition } : condition;
}

function combine(kind: "all" | "any", operands: readonly SearchCondition[]): SearchCondition | null {
  const [first, ...rest] = operands;
  if (first === undefined) return null;
  return rest.length === 0 ? first : { kind, operands };
}

function refuse(code: QueryErrorCode, message: string, span: Span): SearchParse {
  return { ok: false, error: new QueryError(code, message, span) };
}

import { type Form, TokenTable, textOf } from "./form.ts";
import { ROUNDS_MAX_COUNT } from "./limits.ts";
import { markPairedPlaces } from "./paired-places.ts";
import { markRareWords } from "./rare-words.ts";
import { markSinglePlaces } from "./single-places.ts";
import { joinStragglers } from "./stragglers.ts";
import { VALUE_MARK } from "./tokenizer.ts";

interface Generalization {
  /** For each form the index of its pattern. */
  readonly patternOf: readonly number[];
  /** For each pattern which of its tokens are values. */
  readonly patterns: readonly Form[];
}

/**
 * Finds the words that are values too, by what other forms have in their places, and puts together the forms that are
 * equal without them; what differs only in the shape of its values joins. Every step looks at all forms at once: the result depends on which they are, not on their order.
 */
export function generalize(formTokens: readonly (readonly string[])[]): Generalization {
  const table = new TokenTable();
  const value = table.token(VALUE_MARK);
  let forms = formTokens.map((tokens): Form => tokens.map((text) => table.token(text)));
  let patternOf = forms.map((_, i) => i);
  const replace = (marked: readonly Form[]): void => {
    const { kept, indexOf } = distinct(marked);
    patternOf = patternOf.map((pattern) => indexOf[pattern] ?? 0);
    forms = kept;
  };
  for (let round = 0; round < ROUNDS_MAX_COUNT; round++) {
    const before = forms.length;
    // First, while those that they join still have the same words.
    replace(joinStragglers(forms));
    // Before single places, which take of such forms those that happen to share one name.
    replace(markPairedPlaces(forms, value));
    replace(markSinglePlaces(forms, value));
    replace(markRareWords(forms, value));
    replace(joinStragglers(forms));
    if (forms.length === before) break;
  }
  return { patternOf, patterns: forms };
}

function distinct(forms: readonly Form[]): { kept: Form[]; indexOf: number[] } {
  const indexes = new Map<string, number>();
  const kept: Form[] = [];
  const indexOf = forms.map((form) => {
    const text = textOf(form);
    const known = indexes.get(text);
    if (known !== undefined) return known;
    indexes.set(text, kept.length);
    return kept.push(form) - 1;
  });
  return { kept, indexOf };
}

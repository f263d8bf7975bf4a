import { neededWords } from "./evidence.ts";
import { countWords, type Form, type FormToken, mix } from "./form.ts";
import { PAIRED_NAMES_MAX_COUNT } from "./limits.ts";

/** Forms that two places take for each word that one of them takes: each word of one has to meet several of the other. */
const FORMS_FACTOR = 2;
/** A form that shares fewer words proves nothing in two places at once. */
const SHARED_WORDS_MIN_COUNT = 3;

const [LOW_MULTIPLIER, HIGH_MULTIPLIER] = [0x9e3779b1, 0x85ebca6b];

/**
 * Makes values of the words in two places of forms that are otherwise equal, where both take many words and the words of one meet
 * those of the other in many ways: nobody would have written so many events. Few names in both are enough, of which no two forms share
 * all but one as often as a single place takes.
 */
export function markPairedPlaces(forms: readonly Form[], value: FormToken): Form[] {
  const counts = new Map<number, number>();
  for (const form of forms) eachPair(form, (key) => counts.set(key, (counts.get(key) ?? 0) + 1));
  const least = neededWords(Number.POSITIVE_INFINITY) * FORMS_FACTOR;
  const pairs = new Map<
    number,
    { first: Set<FormToken>; second: Set<FormToken>; states: number; forms: number }
  >();
  for (const form of forms)
    eachPair(form, (key, i, j) => {
      const [one, other] = [form[i], form[j]];
      if ((counts.get(key) ?? 0) < least || one === undefined || other === undefined) return;
      let pair = pairs.get(key);
      if (pair === undefined) {
        pair = { first: new Set(), second: new Set(), states: 0, forms: 0 };
        pairs.set(key, pair);
      }
      pair.first.add(one);
      pair.second.add(other);
      pair.forms++;
      if (one.isState || other.isState) pair.states++;
    });
  if (pairs.size === 0) return [...forms];
  return forms.map((form) => {
    let marked: FormToken[] | null = null;
    const needed = neededWords(countWords(form) - 2);
    eachPair(form, (key, i, j) => {
      const pair = pairs.get(key);
      if (pair === undefined || pair.forms < needed * FORMS_FACTOR || pair.states * 2 > pair.forms) return;
      if (pair.first.size < needed || pair.second.size < needed) return;
      marked ??= [...form];
      marked[i] = value;
      marked[j] = value;
    });
    return marked ?? form;
  });
}

/** Visits each two names of a form behind its first token, with a number that stands for the form without them. */
function eachPair(form: Form, visit: (key: number, first: number, second: number) => void): void {
  if (countWords(form) - 2 < SHARED_WORDS_MIN_COUNT) return;
  let low = form.length;
  let high = form.length;
  const names: number[] = [];
  for (let i = 0; i < form.length; i++) {
    const token = form[i];
    const hash = token?.hash ?? 0;
    low = (low + mix(hash, i, LOW_MULTIPLIER)) | 0;
    high = (high + mix(hash, i, HIGH_MULTIPLIER)) | 0;
    if (i > 0 && token?.isName === true && names.length < PAIRED_NAMES_MAX_COUNT) names.push(i);
  }
  for (const [at, i] of names.entries()) {
    const first = form[i]?.hash ?? 0;
    const lowWithout = low - mix(first, i, LOW_MULTIPLIER) + mix(i, i, HIGH_MULTIPLIER);
    const highWithout = high - mix(first, i, HIGH_MULTIPLIER);
    for (let k = at + 1; k < names.length; k++) {
      const j = names[k] ?? 0;
      const second = form[j]?.hash ?? 0;
      const restLow = (lowWithout - mix(second, j, LOW_MULTIPLIER) + mix(j, j, LOW_MULTIPLIER)) >>> 0;
      const restHigh = (highWithout - mix(second, j, HIGH_MULTIPLIER)) >>> 11;
      visit(restHigh * 2 ** 32 + restLow, i, j);
    }
  }
}

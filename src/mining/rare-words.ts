import { neededWords } from "./evidence.ts";
import { countWords, type Form, type FormToken, mix, textOf } from "./form.ts";

/** How many times more frequent the words are that a message shares with others than those that are values in it. */
const RARE_RATIO = 8;
/** Several places at once take more proof than one. */
const SEVERAL_PLACES_FACTOR = 2;

const MULTIPLIER = 0x9e3779b1;

interface Skeleton {
  readonly form: Form;
  /** Which of its values were words. */
  readonly holes: readonly number[];
  /** The forms that it was made from. */
  readonly members: number[];
}

/**
 * Makes values of words in several places at once, which no two forms share all but one of: the words that are rare
 * among the forms of the same shape, where enough forms become one by it and differ enough in each of the places.
 */
export function markRareWords(forms: readonly Form[], value: FormToken): Form[] {
  const frequencies = new Map<number, number>();
  const shapes = forms.map(shapeOf);
  for (const [f, form] of forms.entries()) {
    for (const [i, token] of form.entries()) {
      if (!token.isName) continue;
      const key = keyOf(shapes[f] ?? 0, token, i);
      frequencies.set(key, (frequencies.get(key) ?? 0) + 1);
    }
  }
  const skeletons = new Map<string, Skeleton>();
  for (const [f, form] of forms.entries()) {
    const holes = rarePlaces(form, (token, i) => frequencies.get(keyOf(shapes[f] ?? 0, token, i)) ?? 0);
    if (holes.length < 2) continue;
    const skeletonForm = form.map((token, i) => (holes.includes(i) ? value : token));
    const key = textOf(skeletonForm);
    const skeleton = skeletons.get(key);
    if (skeleton === undefined) skeletons.set(key, { form: skeletonForm, holes, members: [f] });
    else skeleton.members.push(f);
  }
  const marked = [...forms];
  for (const skeleton of skeletons.values()) {
    if (!isProven(skeleton, forms)) continue;
    for (const member of skeleton.members) marked[member] = skeleton.form;
  }
  return marked;
}

function isProven({ form, holes, members }: Skeleton, forms: readonly Form[]): boolean {
  const sharedWords = countWords(form);
  const needed = neededWords(sharedWords);
  if (sharedWords < holes.length || members.length < needed * SEVERAL_PLACES_FACTOR) return false;
  return holes.every((i) => new Set(members.map((member) => forms[member]?.[i])).size >= needed);
}

/** The places whose words are rare beside the most frequent one of the form. */
function rarePlaces(form: Form, frequencyOf: (token: FormToken, index: number) => number): number[] {
  const frequencies = form.map((token, i) => (token.isName ? frequencyOf(token, i) : 0));
  const highest = frequencies.reduce((most, frequency) => Math.max(most, frequency), 0);
  const rare: number[] = [];
  for (const [i, frequency] of frequencies.entries())
    if (frequency > 0 && frequency * RARE_RATIO <= highest) rare.push(i);
  return rare;
}

/** The number that forms share which have the same delimiters and gaps between their words and values. */
function shapeOf(form: Form): number {
  let shape = form.length;
  for (const [i, token] of form.entries())
    shape = (shape + mix(token.isWord ? 0 : token.hash, i, MULTIPLIER)) | 0;
  return shape;
}

function keyOf(shape: number, token: FormToken, index: number): number {
  return (mix(token.hash, index, MULTIPLIER) >>> 0) * 2 ** 20 + (mix(shape, index, MULTIPLIER) >>> 12);
}

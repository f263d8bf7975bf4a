import { neededWords } from "./evidence.ts";
import { countWords, type Form, type FormToken, mix } from "./form.ts";
import { PLACES_MAX_COUNT } from "./limits.ts";

/** A place that has values already: one word beside them is enough. */
const NEEDED_BESIDE_VALUE = 2;
/** A place behind the kind of thing that is named there, as in `for user root`. */
const NEEDED_BEHIND_ENTITY = 3;
/** Few words are enough where they look alike: between quotes or brackets, behind `=`, codes of one length, what an act is done to. */
const NEEDED_LOOKING_ALIKE = 3;
/** Behind a name and `=`; of three, people may mean each one (`user=root`). */
const NEEDED_OF_SETTING = 4;
/** The same with other settings around it that have values: what is written as they are is one. */
const NEEDED_AMONG_SETTINGS = 2;
/** Words that stand for something, in the middle of a message that has a value elsewhere and so many other words. Two are often events. */
const NEEDED_INSIDE = 3;
const INSIDE_SHARED_WORDS_MIN_COUNT = 3;
/** Longer words in capitals are states. */
const CODE_MAX_CHARS = 4;
/** Codes of different length: with a letter by itself among them, such as groups of blood. */
const LETTERS_MAX_CHARS = 2;
/** The words that the rules of values and kinds want around the place. */
const SHARED_WORDS_MIN_COUNT = 2;
/** Messages begin with what they are about and states are no values: there it takes several times as many. */
const SELDOM_VALUE_FACTOR = 3;

const [LOW_MULTIPLIER, HIGH_MULTIPLIER] = [0x9e3779b1, 0x85ebca6b];

/** What forms that are equal but for one place have in that place. They differ there, so each one counts as a word. */
interface Place {
  names: number;
  states: number;
  constants: number;
  values: number;
  /** Codes in capitals, the shape of all of them, empty where they differ in it, and their lengths. */
  codes: number;
  codeShape: string;
  shortest: number;
  longest: number;
}

/** Makes values of the words that differ between forms which are otherwise equal, where there are enough of them. */
export function markSinglePlaces(forms: readonly Form[], value: FormToken): Form[] {
  const places = new Map<number, Place>();
  for (const form of forms) {
    eachPlace(form, (token, _index, key) => {
      let place = places.get(key);
      if (place === undefined) {
        place = newPlace(token);
        places.set(key, place);
      }
      countToken(place, token);
    });
  }
  return forms.map((form) => {
    let marked: FormToken[] | null = null;
    const sharedWords = countWords(form) - 1;
    eachPlace(form, (token, index, key) => {
      const place = places.get(key);
      if (place === undefined || !token.isName || !isPlaceOfValues(place, form, index, sharedWords)) return;
      marked ??= [...form];
      marked[index] = value;
    });
    return marked ?? form;
  });
}

function newPlace({ text, codeShape }: FormToken): Place {
  return {
    ...{ names: 0, states: 0, constants: 0, values: 0, codes: 0, codeShape },
    ...{ shortest: text.length, longest: text.length },
  };
}

function countToken(place: Place, token: FormToken): void {
  if (token.isValue) place.values++;
  if (token.isName) {
    place.names++;
    if (token.isState) place.states++;
    if (token.isConstant) place.constants++;
    if (token.codeShape !== "") place.codes++;
  }
  if (token.codeShape !== place.codeShape) place.codeShape = "";
  if (token.text.length < place.shortest) place.shortest = token.text.length;
  if (token.text.length > place.longest) place.longest = token.text.length;
}

function isPlaceOfValues(place: Place, form: Form, index: number, sharedWords: number): boolean {
  const count = found(place);
  if (count < 2) return false;
  if (count >= NEEDED_LOOKING_ALIKE && sharedWords > 0 && looksAlike(place, form, index)) return true;
  if (count >= NEEDED_AMONG_SETTINGS && place.constants === 0 && isAmongSettings(form, index)) return true;
  if (count >= NEEDED_INSIDE && sharedWords >= INSIDE_SHARED_WORDS_MIN_COUNT && isInside(place, form, index))
    return true;
  if (index === 0 || place.states * 2 > place.names)
    return count >= neededWords(sharedWords) * SELDOM_VALUE_FACTOR;
  if (sharedWords >= SHARED_WORDS_MIN_COUNT) {
    if (place.values > 0) return count >= NEEDED_BESIDE_VALUE;
    if (form[index - 2]?.isEntity === true && form[index - 1]?.text === " ")
      return count >= NEEDED_BEHIND_ENTITY;
  }
  return count >= neededWords(sharedWords);
}

function found(place: Place): number {
  return place.names + place.values;
}

function looksAlike(place: Place, form: Form, index: number): boolean {
  const isEnclosed = form[index - 1]?.isOpening === true && form[index + 1]?.isClosing === true;
  const isLast = index === form.length - 1;
  if (place.codes === place.names && place.values === 0) return areCodes(place) && index > 0 && !isLast;
  if (isEnclosed && place.states * 2 <= place.names) return true;
  if (place.states > 0) return false;
  const isSetting =
    found(place) >= NEEDED_OF_SETTING && form[index - 1]?.text === "=" && form[index - 2]?.isWord === true;
  return isSetting || (isLast && index === 2 && form[0]?.isAct === true && form[1]?.text === " ");
}

function areCodes({ codeShape, shortest, longest }: Place): boolean {
  if (codeShape === "") return shortest === 1 && longest <= LETTERS_MAX_CHARS;
  return codeShape.split("-").every((part) => part.length <= CODE_MAX_CHARS);
}

/** Behind a name and `=`, before something else, and beside another such name that has a value. */
function isAmongSettings(form: Form, index: number): boolean {
  if (form[index - 1]?.text !== "=" || form[index - 2]?.isWord !== true || index === form.length - 1)
    return false;
  return form.some(({ isValue }, i) => isValue && form[i - 1]?.text === "=" && form[i - 2]?.isWord === true);
}

/** Between other words, of which it is not the name of one: that stands before `=` or a colon. */
function isInside({ names, states, values }: Place, form: Form, index: number): boolean {
  if (values > 0 || states * 3 > names || index === 0 || index === form.length - 1) return false;
  const next = form[index + 1]?.text;
  return next !== "=" && next !== ":" && form.some(({ isValue }) => isValue);
}

/**
 * Visits the words and values of a form, each with a number that stands for the form without it. Sums of hashes, so
 * that taking one token out costs a subtraction; 53 bits of two independent sums.
 */
function eachPlace(form: Form, visit: (token: FormToken, index: number, key: number) => void): void {
  let low = form.length;
  let high = form.length;
  for (let i = 0; i < form.length; i++) {
    const hash = form[i]?.hash ?? 0;
    low = (low + mix(hash, i, LOW_MULTIPLIER)) | 0;
    high = (high + mix(hash, i, HIGH_MULTIPLIER)) | 0;
  }
  let places = 0;
  for (let i = 0; i < form.length && places < PLACES_MAX_COUNT; i++) {
    const token = form[i];
    if (token === undefined || !(token.isWord || token.isValue)) continue;
    places++;
    const restLow = (low - mix(token.hash, i, LOW_MULTIPLIER) + mix(i, i, HIGH_MULTIPLIER)) >>> 0;
    const restHigh = (high - mix(token.hash, i, HIGH_MULTIPLIER)) >>> 11;
    visit(token, i, restHigh * 2 ** 32 + restLow);
  }
}

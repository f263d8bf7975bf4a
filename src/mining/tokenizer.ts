import { classAt, DIGIT, LETTER, PUNCTUATION, SPACE } from "./character-class.ts";
import { TOKENS_MAX_COUNT } from "./limits.ts";
import { endOfParameters, isHexGroup, isLeader, isValueWord } from "./value-word.ts";
import { CALENDAR_WORDS, UNIT_WORDS, ZONE_WORDS } from "./vocabulary.ts";

/** What a value is in a form. Control characters are gaps, so that no message has it. */
export const VALUE_MARK = "\u0001";

const GAP = 0;
const DELIMITER = 1;
const WORD = 2;
const VALUE = 3;
/** A value that is a number with its unit, as in `20 ms`. */
const QUANTITY = 4;

const OPEN_PARENTHESIS = 40;
const CLOSE_PARENTHESIS = 41;
const COMMA = 44;
const COLON = 58;
const SEMICOLON = 59;
const LESS = 60;
const GREATER = 62;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const BACKSLASH = 92;

/** The longest word that is looked up among units and zones. */
const UNIT_MAX_CHARS = 13;

/** Between the last two members of a list: a comma, a gap, a word and a gap. */
const SEPARATOR_MAX_TOKENS = 4;
const JOINING_WORD = /^(?:and|or)$/;

/** The longest group of a list that is known by one of them. */
const GROUP_MAX_TOKENS = 24;

/**
 * Cuts messages into words, values, delimiters and gaps. A value is known by what it is - a number, a date, an address,
 * a path, a quantity - whatever program wrote it, and values side by side are one, so that lists of any length are
 * alike. One object serves many messages and holds the tokens of the last one.
 */
export class Tokenizer {
  count = 0;
  readonly #kinds = new Uint8Array(TOKENS_MAX_COUNT + 2);
  /** Where a token begins and ends in the message, in UTF-16 units. */
  readonly #starts = new Uint32Array(TOKENS_MAX_COUNT + 2);
  readonly #ends = new Uint32Array(TOKENS_MAX_COUNT + 2);
  /** The character of a delimiter. */
  readonly #codes = new Uint8Array(TOKENS_MAX_COUNT + 2);
  #message = "";

  read(message: string): void {
    this.#message = message;
    this.count = 0;
    const { length } = message;
    let at = 0;
    while (at < length && this.count < TOKENS_MAX_COUNT) {
      const start = at++;
      const characterClass = classAt(message, start);
      if (characterClass === SPACE) {
        while (at < length && classAt(message, at) === SPACE) at++;
        this.#addGap(start, at);
      } else if (characterClass === PUNCTUATION || isLeader(message, start)) {
        const code = message.charCodeAt(start);
        while (at < length && message.charCodeAt(at) === code) at++;
        this.#addDelimiter(code, start, at);
      } else {
        let hasDigit = characterClass === DIGIT;
        for (; at < length; at++) {
          const next = classAt(message, at);
          if (next === DIGIT) hasDigit = true;
          else if (next !== LETTER || isLeader(message, at)) break;
        }
        if (hasDigit || isValueWord(message, start, at)) {
          at = endOfParameters(message, start, at);
          this.#addValue(start, at, VALUE);
        } else this.#addWord(start, at);
      }
    }
    if (at < length) this.#addValue(at, length, VALUE);
    this.#joinComparison();
    if (this.#kinds[this.count - 1] === GAP) this.count--;
    this.#foldRepetitions();
  }

  /** A list is known by one of its members: of groups of tokens that repeat, each with a value, the first stays. */
  #foldRepetitions(): void {
    let value = this.#valueFrom(0);
    while (value < this.count) {
      const next = this.#valueFrom(value + 1);
      const period = next - value;
      if (next >= this.count || period > GROUP_MAX_TOKENS) {
        value = next;
        continue;
      }
      // The group may begin before its value and end behind it: equal tokens around the two values make it whole.
      let first = value;
      while (first > 0 && value - first < period && this.#isAlike(first - 1, first - 1 + period)) first--;
      let last = value;
      while (
        last + 1 + period < this.count &&
        last - first + 1 < period &&
        this.#isAlike(last + 1, last + 1 + period)
      )
        last++;
      if (period > 1 && this.#isWhole(first, last, period)) this.#remove(first + period, period);
      else value = next;
    }
  }

  /** Whether what two groups have in common is all of them, but for what parts them: the last one of a list has another sign behind it, or none. */
  #isWhole(first: number, last: number, period: number): boolean {
    const left = first + period - last - 1;
    if (left <= 0) return true;
    if (left > SEPARATOR_MAX_TOKENS || last === first) return false;
    let isParted = false;
    for (let i = last + 1; i < first + period; i++) {
      const kind = this.#kinds[i];
      if (kind === DELIMITER) isParted ||= this.#isDelimiter(i, COMMA, SEMICOLON);
      else if (kind === WORD && JOINING_WORD.test(this.text(i))) isParted = true;
      else if (kind !== GAP) return false;
    }
    return isParted;
  }

  #valueFrom(at: number): number {
    let i = at;
    while (i < this.count && !this.isValue(i)) i++;
    return i;
  }

  #isAlike(i: number, j: number): boolean {
    const kind = this.#kinds[i];
    if (kind !== this.#kinds[j]) return this.isValue(i) && this.isValue(j);
    if (kind === DELIMITER) return this.#codes[i] === this.#codes[j];
    return kind !== WORD || this.text(i) === this.text(j);
  }

  #remove(at: number, count: number): void {
    for (const tokens of [this.#kinds, this.#starts, this.#ends, this.#codes])
      tokens.copyWithin(at, at + count, this.count);
    this.count -= count;
  }

  /** The text of every token; `VALUE_MARK` for a value and one space for a gap. Joined they are the form. */
  tokens(): string[] {
    return Array.from({ length: this.count }, (_, i) => this.#normalText(i));
  }

  /** What messages that differ in their values alone have in common. */
  form(): string {
    let form = "";
    for (let i = 0; i < this.count; i++) form += this.#normalText(i);
    return form;
  }

  isValue(i: number): boolean {
    return (this.#kinds[i] ?? GAP) >= VALUE;
  }

  /** The text of a token as it stands in the message. */
  text(i: number): string {
    return this.#message.slice(this.#starts[i], this.#ends[i]);
  }

  #normalText(i: number): string {
    const kind = this.#kinds[i];
    if (kind === WORD) return this.text(i);
    if (kind === GAP) return " ";
    return kind === DELIMITER ? this.#message.charAt(this.#starts[i] ?? 0) : VALUE_MARK;
  }

  #push(kind: number, start: number, end: number, code: number): void {
    const i = this.count++;
    this.#kinds[i] = kind;
    this.#starts[i] = start;
    this.#ends[i] = end;
    this.#codes[i] = code;
  }

  #addGap(start: number, end: number): void {
    this.#joinComparison();
    if (this.count > 0) this.#push(GAP, start, end, 0);
  }

  /** `<1` is a value; `<1>` is one between delimiters. */
  #joinComparison(): void {
    const top = this.count - 1;
    if (top < 1 || !this.isValue(top) || !this.#isDelimiter(top - 1, LESS, GREATER)) return;
    if (top > 1 && this.#kinds[top - 2] !== GAP) return;
    this.count = top - 1;
    this.#addValue(this.#starts[top - 1] ?? 0, this.#ends[top] ?? 0, this.#kinds[top] ?? VALUE);
  }

  #addDelimiter(code: number, start: number, end: number): void {
    const top = this.count - 1;
    if (code === CLOSE_PARENTHESIS && this.#isDelimiter(top, OPEN_PARENTHESIS)) {
      // `at ()` leaves out a value it has a place for; `start()` is the name of a function.
      if (this.#kinds[top - 1] === GAP) this.#push(VALUE, start, start, 0);
    } else if (code === CLOSE_PARENTHESIS && this.#isRepeatedQuantity(top)) {
      this.count = top - 2;
      this.#ends[top - 3] = end;
      return;
    } else if (code === CLOSE_BRACKET && this.#isNumberedName(top)) {
      this.count = top - 2;
      this.#addValue(this.#starts[top - 2] ?? 0, end, VALUE);
      return;
    }
    this.#push(DELIMITER, start, end, code);
  }

  /** `1301 bytes (1.27 KB)` says one quantity twice. */
  #isRepeatedQuantity(top: number): boolean {
    return (
      top >= 3 &&
      this.#kinds[top] === QUANTITY &&
      this.#isDelimiter(top - 1, OPEN_PARENTHESIS) &&
      this.#kinds[top - 2] === GAP &&
      this.#kinds[top - 3] === QUANTITY
    );
  }

  /** `node-[1-5, 7]` is the name of several nodes. */
  #isNumberedName(top: number): boolean {
    if (top < 2 || !this.isValue(top) || !this.#isDelimiter(top - 1, OPEN_BRACKET)) return false;
    return this.#kinds[top - 2] === WORD && /[-_]$/.test(this.text(top - 2));
  }

  #addWord(start: number, end: number): void {
    const top = this.count - 1;
    if (end - start <= UNIT_MAX_CHARS && top > 0) {
      if (this.#kinds[top] === GAP && this.isValue(top - 1)) {
        const word = this.#message.slice(start, end).replace(/\.$/, "").toLowerCase();
        const isUnit = UNIT_WORDS.has(word);
        if (isUnit || ZONE_WORDS.has(word)) {
          this.count = top;
          this.#kinds[top - 1] = isUnit ? QUANTITY : VALUE;
          this.#ends[top - 1] = end;
          return;
        }
      } else if (
        this.#isDelimiter(top, COLON) &&
        this.isValue(top - 1) &&
        isHexGroup(this.#message, start, end)
      ) {
        this.#addValue(start, end, VALUE);
        return;
      }
    }
    this.#push(WORD, start, end, 0);
  }

  /** Adds a value, together with the values, days, months, drive letters and parts of addresses that it goes on. */
  #addValue(start: number, end: number, kind: number): void {
    let first = start;
    for (;;) {
      const previous = this.#startOfJoined(first);
      if (previous < 0) break;
      this.count = previous;
      first = this.#starts[previous] ?? 0;
    }
    this.#push(kind, first, end, 0);
  }

  /** The index of the token that a value beginning at `start` is joined to, with what lies between; -1 for none. */
  #startOfJoined(start: number): number {
    const top = this.count - 1;
    if (top < 0) return -1;
    if (this.isValue(top)) return top;
    if (top < 1) return -1;
    const below = top - 1;
    if (this.#kinds[top] === GAP) {
      if (this.isValue(below) || this.#isCalendarWord(below)) return below;
      return below > 0 && this.#isDelimiter(below, COMMA) && this.isValue(below - 1) ? below - 1 : -1;
    }
    if (!this.#isDelimiter(top, COLON, COMMA)) return -1;
    if (this.isValue(below)) return below;
    if (this.#kinds[below] !== WORD || !this.#isDelimiter(top, COLON)) return -1;
    const wordStart = this.#starts[below] ?? 0;
    const wordEnd = this.#ends[below] ?? 0;
    const isDrive = wordEnd - wordStart === 1 && this.#message.charCodeAt(start) === BACKSLASH;
    return isDrive || isHexGroup(this.#message, wordStart, wordEnd) ? below : -1;
  }

  #isDelimiter(i: number, code: number, otherCode = code): boolean {
    return this.#kinds[i] === DELIMITER && (this.#codes[i] === code || this.#codes[i] === otherCode);
  }

  #isCalendarWord(i: number): boolean {
    return this.#kinds[i] === WORD && CALENDAR_WORDS.has(this.text(i));
  }
}

import { LITERAL_MIN_BYTES, type Literal, LiteralFinder } from "../../query/bytes/literal-finder.ts";
import type { EntryColumns } from "../entry-columns.ts";
import { type EncodedTexts, textAt } from "../native/block-reader.ts";
import { Findings, type FoundRows, type MaskTerms, type PatternBits } from "./findings.ts";
import { MASKABLE_COLUMNS, type Mask } from "./mask.ts";
import type { MaskPattern } from "./mask-pattern.ts";
import { MASK_PATTERN_NAMES, MASK_PATTERNS } from "./patterns.ts";
import { SecretNames } from "./secret-names.ts";
import { firstAbove, TextPlaces } from "./text-places.ts";

/** Any character of a text in JSON can be written so: what it is shows when it is parsed. */
const ESCAPE = Buffer.from("\\u");
const OPENING_BRACE = 0x7b;
const OPENING_BRACKET = 0x5b;
const SPACE = 0x20;

interface UsedPattern {
  readonly bit: PatternBits;
  readonly pattern: MaskPattern;
}

/** Says in which entries masks may find something: one look at all texts for everything that any of the masks hides. */
export class MaskableRows {
  readonly #masks: readonly MaskTerms[];
  readonly #patterns: readonly UsedPattern[];
  readonly #names: SecretNames;
  readonly #secrets: LiteralFinder;
  /** For secrets and, behind them, terms: what rules look for in messages is found in the same pass. */
  readonly #inMessages: LiteralFinder;
  readonly #terms: number;
  /** The pattern that each literal of the finders is of; there is none for terms. */
  readonly #literals: readonly UsedPattern[];
  /** What a message that is JSON has where it has a field of a mask; null where no look can rule that out. */
  readonly #members: LiteralFinder | null;

  /** `terms` are what rules look for in messages. */
  constructor(masks: readonly Mask[], terms: readonly Literal[] = []) {
    this.#masks = masks.map(({ fields, patterns }) => ({
      patterns: bitsOf(patterns),
      isForAll: fields.some((field) => MASKABLE_COLUMNS.some((column) => column === field)),
      hasFields: fields.length > 0,
    }));
    const used = this.#masks.reduce((bits, mask) => bits | mask.patterns, 0);
    this.#patterns = MASK_PATTERN_NAMES.map((name, i) => ({
      bit: 1 << i,
      pattern: MASK_PATTERNS[name],
    })).filter(({ bit }) => (used & bit) !== 0);
    this.#names = new SecretNames(
      this.#patterns,
      masks.map(({ fields }) => fields),
    );
    const literals = this.#patterns.flatMap((used) =>
      "literals" in used.pattern.hint ? used.pattern.hint.literals.map((text) => ({ text, used })) : [],
    );
    this.#literals = literals.map(({ used }) => used);
    const secrets = literals.map(({ text }) => ({ bytes: Buffer.from(text) }));
    this.#secrets = new LiteralFinder(secrets);
    this.#inMessages = new LiteralFinder([...secrets, ...terms]);
    this.#terms = terms.length;
    this.#members = memberFinder(new Set(masks.flatMap(({ fields }) => fields)));
  }

  /** Looks at all entries; pauses between looks, so that others get a turn. */
  *of(entries: EntryColumns): Generator<void, FoundRows> {
    const found = new Findings(entries, this.#masks.length);
    const { message, details } = entries;
    const { attrs, eventId } = details;
    let termPlaces: number[][] | null = null;
    if (this.#patterns.length > 0) {
      termPlaces = Array.from({ length: this.#terms }, () => []);
      this.#lookForSecrets(message, found.patternsOfMessage, termPlaces);
      this.#lookForSecrets(eventId, found.patternsOfRow);
      yield;
      this.#lookForSecrets(attrs.values, (element, bits) =>
        found.patternsOfElement(firstAbove(attrs.ends, element), bits, element),
      );
      lookForEscapes(attrs.values, (element) => found.patternsOfRow(firstAbove(attrs.ends, element), 0xff));
      for (const column of [entries.service, entries.source, entries.host])
        this.#names.ofColumn(column, found.patternsOfRow);
      yield;
    }
    this.#names.ofKeys(details, found);
    const withFields = this.#masks.flatMap(({ hasFields }, mask) => (hasFields ? [mask] : []));
    if (withFields.length > 0)
      this.#lookForMembers(message, entries.rows, (row) => {
        for (const mask of withFields) found.fieldOfRow(row, mask);
      });
    return found.among(this.#masks, termPlaces);
  }

  /** Notes where terms begin, too, where it is given a list for each of them. */
  #lookForSecrets(
    texts: EncodedTexts,
    hit: (text: number, bit: PatternBits) => void,
    termPlaces: readonly number[][] | null = null,
  ): void {
    // Where every text is empty, the lengths are all there is.
    if (!hasText(texts)) return;
    // The same text is often met again at once.
    const latest = new Map<UsedPattern, number>();
    const look = (used: UsedPattern, text: number): void => {
      if (text < 0 || latest.get(used) === text) return;
      latest.set(used, text);
      if (mayBeJson(texts, text) || used.pattern.find(textAt(texts, text)).length > 0) hit(text, used.bit);
    };
    const places = new TextPlaces(texts);
    const finder = termPlaces === null ? this.#secrets : this.#inMessages;
    finder.find(texts.bytes, texts.start, texts.end, (literal, at) => {
      const used = this.#literals[literal];
      if (used !== undefined) look(used, places.textAt(at));
      else termPlaces?.[literal - this.#literals.length]?.push(at);
    });
    for (const used of this.#patterns)
      if ("look" in used.pattern.hint) used.pattern.hint.look(texts, (text) => look(used, text));
  }

  /** Messages that are objects of JSON are masked by their members, too. */
  #lookForMembers(message: EncodedTexts, rows: number, hit: (row: number) => void): void {
    const isObject = new Uint8Array(rows);
    let hasObjects = false;
    const { bytes, starts } = message;
    for (let row = 0; row < rows; row++) {
      const first = bytes[starts[row] ?? 0] ?? 0;
      if (first !== OPENING_BRACE && first > SPACE) continue;
      isObject[row] = 1;
      hasObjects = true;
    }
    if (!hasObjects) return;
    const hitObject = (row: number): void => {
      if (isObject[row] === 1) hit(row);
    };
    if (this.#members === null) for (let row = 0; row < rows; row++) hitObject(row);
    const places = new TextPlaces(message);
    this.#members?.find(bytes, message.start, message.end, (_, at) => hitObject(places.textAt(at)));
    lookForEscapes(message, hitObject);
  }
}

function bitsOf(patterns: Mask["patterns"]): PatternBits {
  return patterns.reduce((bits, name) => bits | (1 << MASK_PATTERN_NAMES.indexOf(name)), 0);
}

/** The last part of a field's path, where the name of a member ends. */
function memberFinder(fields: ReadonlySet<string>): LiteralFinder | null {
  const ends = new Set([...fields].map((field) => `${field.slice(field.lastIndexOf(".") + 1)}"`));
  const literals = [...ends].map((end) => ({ bytes: Buffer.from(end) }));
  return literals.some(({ bytes }) => bytes.length < LITERAL_MIN_BYTES) ? null : new LiteralFinder(literals);
}

/** An empty text is nothing but its length. */
function hasText({ start, end, count }: EncodedTexts): boolean {
  return end - start > count;
}

/** Of JSON what members are called matters too, and how a text in it is written. */
function mayBeJson({ bytes, starts }: EncodedTexts, text: number): boolean {
  const first = bytes[starts[text] ?? 0];
  return first === OPENING_BRACE || first === OPENING_BRACKET;
}

function lookForEscapes(texts: EncodedTexts, hit: (text: number) => void): void {
  if (!hasText(texts)) return;
  const { bytes, start, end } = texts;
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, end);
  const places = new TextPlaces(texts);
  for (let at = all.indexOf(ESCAPE, start); at !== -1; at = all.indexOf(ESCAPE, at + ESCAPE.length)) {
    const text = places.textAt(at);
    if (text >= 0) hit(text);
  }
}

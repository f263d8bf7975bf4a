import type { NewTexts } from "../append-entries.ts";
import { type EntryColumns, elementsStart, holdsText, indexedText, textAt } from "../entry-columns.ts";
import type { EntryAttribute, EntryTexts } from "./entry-texts.ts";
import type { FoundRows } from "./findings.ts";
import { type EntryMasker, MASKABLE_COLUMNS, MASKED } from "./mask.ts";
import { firstAbove } from "./text-places.ts";

/** A rule that masks an entry. */
interface MaskingRule {
  readonly mask: number;
  readonly masker: EntryMasker | null;
  /** Entries that it changed so far. */
  masked: number;
}

interface GrowingTexts extends NewTexts {
  readonly places: number[];
  readonly texts: string[];
}

/**
 * Masks messages and texts of attributes one by one where nothing else of an entry changes: what it has besides need not be
 * read then, and stays where it is.
 */
export class MaskedTexts {
  readonly messages: GrowingTexts = { places: [], texts: [] };
  readonly values: GrowingTexts = { places: [], texts: [] };
  readonly #entries: EntryColumns;

  constructor(entries: EntryColumns) {
    this.#entries = entries;
  }

  /** Masks an entry, each above the one before, by rules one after the other; false where all of it has to be looked at. */
  mask(rules: readonly MaskingRule[], found: FoundRows, row: number): boolean {
    for (const { mask } of rules) if (!found.isOfTexts(mask, row)) return false;
    const [rule] = rules;
    // Of one rule that asks for names alone, as one for every entry, no text has to be read.
    if (rules.length === 1 && rule?.masker?.hasPatterns === false)
      return this.#hideNamed(rule, found.namedBy(rule.mask), row);
    const { attrs } = this.#entries.details;
    const hasPatterns = rules.some(({ masker }) => masker?.hasPatterns === true);
    const lists = rules.map(({ mask }) => found.namedBy(mask));
    if (hasPatterns) lists.push(found.foundTexts());
    const elements = elementsIn(lists, elementsStart(attrs.ends, row), attrs.ends[row] ?? 0);
    // What is no text is one from now on, and has to be told so.
    for (const element of elements) if (this.#isJson(row, indexedText(attrs.keys, element))) return false;
    this.#maskTexts(rules, row, elements, hasPatterns && found.isInMessage(row));
    return true;
  }

  /** Takes over how an entry was masked, where only messages and texts of attributes changed; false where anything else did. */
  take(row: number, received: EntryTexts, masked: EntryTexts): boolean {
    const isSame = MASKABLE_COLUMNS.every(
      (column) => column === "message" || masked[column] === received[column],
    );
    if (!isSame || !masked.attributes.every((attribute, i) => isOfForm(attribute, received.attributes[i])))
      return false;
    const { attrs } = this.#entries.details;
    const first = elementsStart(attrs.ends, row);
    if (masked.message !== received.message) note(this.messages, row, masked.message);
    for (const [i, { text }] of masked.attributes.entries())
      if (text !== received.attributes[i]?.text) note(this.values, first + i, text);
    return true;
  }

  /** Hides those of some attributes, in ascending order, that are the row's; false where some of them are no texts. */
  #hideNamed(rule: MaskingRule, elements: readonly number[], row: number): boolean {
    const { attrs } = this.#entries.details;
    const to = attrs.ends[row] ?? 0;
    const first = elements.length === 0 ? 0 : firstAbove(elements, elementsStart(attrs.ends, row) - 1);
    for (let i = first; (elements[i] ?? to) < to; i++)
      if (this.#isJson(row, indexedText(attrs.keys, elements[i] ?? 0))) return false;
    let hides = false;
    for (let i = first; (elements[i] ?? to) < to; i++) {
      const element = elements[i] ?? 0;
      if (holdsText(attrs.values, element, MASKED)) continue;
      note(this.values, element, MASKED);
      hides = true;
    }
    if (hides) rule.masked++;
    return true;
  }

  #maskTexts(
    rules: readonly MaskingRule[],
    row: number,
    elements: readonly number[],
    isInMessage: boolean,
  ): void {
    const { keys, values } = this.#entries.details.attrs;
    const received = elements.map((element) => textAt(values, element));
    const texts = [...received];
    const receivedMessage = isInMessage ? this.#entries.messageText(row) : "";
    let message = receivedMessage;
    for (const rule of rules) {
      const { masker } = rule;
      if (masker === null) continue;
      let changes = false;
      for (const [i, element] of elements.entries()) {
        const text = texts[i] ?? "";
        const masked = masker.attributeText(indexedText(keys, element), text);
        changes ||= masked !== text;
        texts[i] = masked;
      }
      if (isInMessage) {
        const masked = masker.message(message);
        changes ||= masked !== message;
        message = masked;
      }
      if (changes) rule.masked++;
    }
    for (const [i, element] of elements.entries())
      if (texts[i] !== received[i]) note(this.values, element, texts[i] ?? "");
    if (message !== receivedMessage) note(this.messages, row, message);
  }

  #isJson(row: number, key: string): boolean {
    const { elements, ends } = this.#entries.details.attrJsonKeys;
    for (let i = elementsStart(ends, row); i < (ends[row] ?? 0); i++)
      if (indexedText(elements, i) === key) return true;
    return false;
  }
}

/** What several ascending lists have from `from` to `to`, in ascending order. */
function elementsIn(lists: readonly (readonly number[])[], from: number, to: number): number[] {
  const elements: number[] = [];
  for (const list of lists)
    for (let i = list.length === 0 ? 0 : firstAbove(list, from - 1); (list[i] ?? to) < to; i++) {
      const element = list[i] ?? to;
      if (!elements.includes(element)) elements.push(element);
    }
  return elements.length < 2 ? elements : elements.toSorted((left, right) => left - right);
}

function isOfForm({ key, isJson }: EntryAttribute, received: EntryAttribute | undefined): boolean {
  return key === received?.key && isJson === received.isJson;
}

function note({ places, texts }: GrowingTexts, place: number, text: string): void {
  places.push(place);
  texts.push(text);
}

import type { EntryDetails } from "../entry-columns.ts";
import type { IndexedTexts } from "../native/block-reader.ts";
import type { MaskPattern } from "./mask-pattern.ts";

/** What is told of rows by the names in them. */
export interface NameFindings {
  readonly patternsOfRow: (row: number, bits: number) => void;
  /** A field of the mask that is one of the attributes. */
  readonly fieldOfElement: (row: number, mask: number, element: number) => void;
  /** Fields of these masks are all attributes of a name, which is this one of the batch's, and nothing else is known of it. */
  readonly fieldsOfKey: (key: number, masks: readonly number[]) => void;
  /** One that may be inside of something. */
  readonly fieldOfRow: (row: number, mask: number) => void;
}

/** What masks may find in an attribute of a name. */
interface KeyFinding {
  readonly patterns: number;
  /** Masks of which a field is called so. */
  readonly masks: readonly number[];
  /** Masks of which a field is a member of an attribute of this name. */
  readonly memberMasks: readonly number[];
}

/** Names of which it is remembered what is found in them, most often nothing. */
const NAMES_MAX = 10_000;
const NOTHING: KeyFinding = { patterns: 0, masks: [], memberMasks: [] };
const IS_NOTHING = 1;
/** Fields of masks alone. */
const IS_FIELD = 2;
const IS_SOMETHING = 3;

/** Looks for what masks hide in texts of which there are few different ones: in each once. */
export class SecretNames {
  readonly #patterns: readonly { readonly bit: number; readonly pattern: MaskPattern }[];
  /** Names of attributes, and paths of their members, by masks. */
  readonly #fields: readonly (readonly string[])[];
  readonly #bits = new Map<string, number>();
  readonly #keys = new Map<string, KeyFinding>();
  /** By the lists of a column's texts, to which others are only ever added: what is known of each, as `ofColumn` has it. */
  readonly #known = new WeakMap<readonly string[], Uint16Array>();
  /** The same of names of attributes, as `ofKeys` has it. */
  readonly #knownKeys = new WeakMap<readonly string[], Uint16Array>();

  constructor(
    patterns: readonly { readonly bit: number; readonly pattern: MaskPattern }[],
    fields: readonly (readonly string[])[],
  ) {
    this.#patterns = patterns;
    this.#fields = fields;
  }

  ofColumn({ texts, indexes }: IndexedTexts, found: NameFindings["patternsOfRow"]): void {
    // Of each text, what is found in it and one more; only of those that rows have, among which are others.
    const known = knownOf(this.#known, texts);
    for (let row = 0; row < indexes.length; row++) {
      const index = indexes[row] ?? 0;
      if (known[index] === 0) known[index] = this.#bitsOf(texts[index] ?? "") + 1;
      const bits = (known[index] ?? 1) - 1;
      if (bits !== 0) found(row, bits);
    }
  }

  ofKeys({ attrs, attrJsonKeys }: EntryDetails, found: NameFindings): void {
    const { keys, ends } = attrs;
    const { texts, indexes } = keys;
    const known = knownOf(this.#knownKeys, texts);
    let jsonKeys: ReadonlySet<string> | null = null;
    const fields = new Set<number>();
    let row = 0;
    for (let at = 0; at < indexes.length; at++) {
      const index = indexes[at] ?? 0;
      if (known[index] === IS_NOTHING || (known[index] === IS_FIELD && fields.has(index))) continue;
      const key = texts[index] ?? "";
      const finding = this.#findingOf(key);
      const kind = kindOf(finding);
      known[index] = kind;
      if (kind === IS_FIELD) {
        fields.add(index);
        found.fieldsOfKey(index, finding.masks);
      }
      if (kind !== IS_SOMETHING) continue;
      while ((ends[row] ?? at + 1) <= at) row++;
      if (finding.patterns !== 0) found.patternsOfRow(row, finding.patterns);
      for (const mask of finding.masks) found.fieldOfElement(row, mask, at);
      if (finding.memberMasks.length === 0) continue;
      jsonKeys ??= new Set(attrJsonKeys.elements.texts);
      if (jsonKeys.has(key)) for (const mask of finding.memberMasks) found.fieldOfRow(row, mask);
    }
  }

  #bitsOf(text: string): number {
    if (text === "" || this.#patterns.length === 0) return 0;
    let bits = this.#bits.get(text);
    if (bits === undefined) {
      bits = 0;
      for (const { bit, pattern } of this.#patterns) if (pattern.find(text).length > 0) bits |= bit;
      remember(this.#bits, text, bits);
    }
    return bits;
  }

  #findingOf(key: string): KeyFinding {
    let finding = this.#keys.get(key);
    if (finding === undefined) {
      finding = this.#look(key);
      remember(this.#keys, key, finding);
    }
    return finding;
  }

  #look(key: string): KeyFinding {
    let patterns = this.#bitsOf(key);
    for (const { bit, pattern } of this.#patterns) if (pattern.isSecretName?.(key) === true) patterns |= bit;
    const masksWith = (isMeant: (field: string) => boolean): number[] =>
      this.#fields.flatMap((fields, mask) => (fields.some(isMeant) ? [mask] : []));
    const masks = masksWith((field) => field === key);
    const memberMasks = masksWith((field) => field.startsWith(`${key}.`));
    return patterns === 0 && masks.length === 0 && memberMasks.length === 0
      ? NOTHING
      : { patterns, masks, memberMasks };
  }
}

function kindOf(finding: KeyFinding): number {
  if (finding === NOTHING) return IS_NOTHING;
  return finding.patterns === 0 && finding.memberMasks.length === 0 ? IS_FIELD : IS_SOMETHING;
}

/** Forgets all when there are too many: names that come again are few. */
function remember<T>(known: Map<string, T>, name: string, value: T): void {
  if (known.size >= NAMES_MAX) known.clear();
  known.set(name, value);
}

/** What is known of the texts of a list, with room for those that were added to it since. */
function knownOf(lists: WeakMap<readonly string[], Uint16Array>, texts: readonly string[]): Uint16Array {
  const known = lists.get(texts);
  if (known !== undefined && known.length >= texts.length) return known;
  const grown = new Uint16Array(texts.length * 2);
  if (known !== undefined) grown.set(known);
  lists.set(texts, grown);
  return grown;
}

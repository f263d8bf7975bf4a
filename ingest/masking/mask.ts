import { isJsonObject, numberText, tryParseJson } from "../decode/json-body.ts";
import { ATTRIBUTE_MAX_DEPTH } from "../limits.ts";
import type { EntryAttribute, EntryTexts } from "./entry-texts.ts";
import type { MaskedSpan, MaskPattern } from "./mask-pattern.ts";
import { MASK_PATTERNS, type MaskPatternName } from "./patterns.ts";

/** What is masked: fields by their names, and what has the form of a secret wherever it stands. */
export interface Mask {
  /** Names of columns and of attributes; of a member inside an attribute its path, with dots. */
  readonly fields: readonly string[];
  readonly patterns: readonly MaskPatternName[];
}

/** What stands where a whole value was. */
export const MASKED = "[masked]";
const NAME_COLUMNS = ["service", "source", "host"] as const;
/** What a text begins with that may be an object of JSON. */
const JSON_OBJECT = /^\s*\{/;
/** Nothing but hexadecimal digits can stand in these. */
const ID_COLUMNS = ["traceId", "spanId"] as const;
/** Columns of entries that a mask can name. */
export const MASKABLE_COLUMNS = ["message", ...NAME_COLUMNS, ...ID_COLUMNS, "event_id"] as const;

/** The text with something else in the place of spans, in ascending order. */
export function withReplaced(text: string, spans: readonly MaskedSpan[]): string {
  if (spans.length === 0) return text;
  let at = 0;
  let made = "";
  for (const { start, end, replacement } of spans) {
    made += text.slice(at, start) + replacement;
    at = end;
  }
  return made + text.slice(at);
}

/** Masks the texts of entries. */
export class EntryMasker {
  readonly #patterns: readonly MaskPattern[];
  readonly #fields: ReadonlySet<string>;

  constructor({ fields, patterns }: Mask) {
    this.#fields = new Set(fields);
    this.#patterns = patterns.map((name) => MASK_PATTERNS[name]);
  }

  /** Whether it masks more than values by their names. */
  get hasPatterns(): boolean {
    return this.#patterns.length > 0;
  }

  /** The entry masked; the same object when there is nothing in it to mask. */
  entry(entry: EntryTexts): EntryTexts {
    const attributes = entry.attributes.map((attribute) => this.#attribute(attribute));
    const masked = { ...entry, attributes, event_id: this.#eventId(entry.event_id) };
    for (const column of NAME_COLUMNS) masked[column] = this.#column(column, entry[column]);
    masked.message = this.message(entry.message);
    for (const column of ID_COLUMNS) if (this.#fields.has(column)) masked[column] = "";
    const isSame =
      MASKABLE_COLUMNS.every((column) => masked[column] === entry[column]) &&
      attributes.every((attribute, i) => attribute === entry.attributes[i]);
    return isSame ? entry : masked;
  }

  /** Of a message that is an object of JSON, as of a source that is learning, the members are masked like attributes. */
  message(text: string): string {
    const parsed =
      this.#fields.size > 0 && !this.#fields.has("message") && JSON_OBJECT.test(text)
        ? tryParseJson(text, ATTRIBUTE_MAX_DEPTH)
        : null;
    if (parsed?.ok !== true) return this.#column("message", text);
    const masked = this.value(parsed.value, "");
    return masked === parsed.value ? this.text(text) : JSON.stringify(masked);
  }

  /** The text of an attribute that is no JSON. */
  attributeText(key: string, text: string): string {
    return this.#fields.has(key) || this.isSecretName(key) ? MASKED : this.text(text);
  }

  /** A text that is no part of an entry, such as one that could not be read as one. */
  text(text: string): string {
    return this.#patterns.reduce((masked, { find }) => withReplaced(masked, find(masked)), text);
  }

  /** A value of JSON, whose path is `path`; the same value when there is nothing in it to mask. */
  value(value: unknown, path: string): unknown {
    if (this.#fields.has(path) || this.isSecretName(path)) return MASKED;
    if (typeof value === "string") return this.text(value);
    const number = numberText(value);
    if (number !== null) return this.text(number) === number ? value : this.text(number);
    if (Array.isArray(value)) {
      const items = value.map((item: unknown) => this.value(item, path));
      return items.every((item, i) => item === value[i]) ? value : items;
    }
    if (!isJsonObject(value)) return value;
    const members = Object.entries(value).map(([name, member]) => {
      const maskedName = this.text(name);
      const masked = this.value(member, path === "" ? name : `${path}.${name}`);
      return { entry: [maskedName, masked] as const, isSame: maskedName === name && masked === member };
    });
    return members.every(({ isSame }) => isSame)
      ? value
      : Object.fromEntries(members.map(({ entry }) => entry));
  }

  /** Whether what is called so is hidden by a pattern whatever it is. */
  isSecretName(name: string): boolean {
    return this.#patterns.some(({ isSecretName }) => isSecretName?.(name) === true);
  }

  #column(column: "message" | (typeof NAME_COLUMNS)[number], text: string): string {
    return text !== "" && this.#fields.has(column) ? MASKED : this.text(text);
  }

  /** Ids that differ go on to differ: entries of one id are taken for repetitions. */
  #eventId(id: string): string {
    if (id === "" || (!this.#fields.has("event_id") && this.text(id) === id)) return id;
    return `${MASKED}${new Bun.CryptoHasher("sha256").update(id).digest("base64url")}`;
  }

  #attribute(attribute: EntryAttribute): EntryAttribute {
    const { key, text, isJson } = attribute;
    const maskedKey = this.text(key);
    if (!isJson) {
      const masked = this.attributeText(key, text);
      return masked === text && maskedKey === key ? attribute : { key: maskedKey, text: masked, isJson };
    }
    // The empty text stands for null.
    const parsed = tryParseJson(text === "" ? "null" : text, ATTRIBUTE_MAX_DEPTH);
    if (!parsed.ok) return { key: maskedKey, text: this.text(text), isJson: false };
    const masked = this.value(parsed.value, key);
    if (masked === parsed.value) return maskedKey === key ? attribute : { key: maskedKey, text, isJson };
    return typeof masked === "string"
      ? { key: maskedKey, text: masked, isJson: false }
      : { key: maskedKey, text: JSON.stringify(masked), isJson };
  }
}

import { createHash } from "node:crypto";

/**
 * What the table `logs` may have of one attribute beside the map of all of them, made of that map by the store itself. Both
 * columns are named after the key, so that a column of that name never holds anything else.
 */
export interface AttributeColumn {
  /** The text that the map has, empty where it has none. */
  readonly text: string;
  /** `KIND_PRESENT` where the map has the key, and `KIND_JSON` where the text is JSON. */
  readonly kind: string;
}

/** Attributes with columns of their own, by key. Statements mean the same with and without any of them. */
export type AttributeColumns = ReadonlyMap<string, AttributeColumn>;

const NAME_HEX_CHARS = 32;

/** Bits of the kind. */
const KIND_PRESENT = 1;
const KIND_JSON = 2;

/** The columns of the attribute with that key, whether they are there or not. */
export function attributeColumnOf(key: string): AttributeColumn {
  const name = `attr_${createHash("sha256").update(key).digest("hex").slice(0, NAME_HEX_CHARS)}`;
  return { text: `${name}_text`, kind: `${name}_kind` };
}

/** What an attribute is, in SQL. */
interface AttributeSql {
  readonly text: string;
  readonly isPresent: string;
  readonly isJson: string;
}

/** How the map and the array of keys beside it say it; `key` is a constant. */
export function attributeInMap(map: string, jsonKeys: string, key: string): AttributeSql {
  return {
    text: `${map}[${key}]`,
    isPresent: `mapContains(${map}, ${key})`,
    isJson: `has(${jsonKeys}, ${key})`,
  };
}

/** How the columns say it. */
export function attributeInColumn({ text, kind }: AttributeColumn): AttributeSql {
  return {
    text,
    isPresent: `(bitAnd(${kind}, ${KIND_PRESENT}) != 0)`,
    isJson: `(bitAnd(${kind}, ${KIND_JSON}) != 0)`,
  };
}

/**
 * The value of the column `kind`, of the map. It looks at the text first because a store that computes the column without having read the
 * map refuses that, while it would take a key for absent.
 */
export function attributeKind({ text, isPresent, isJson }: AttributeSql): string {
  return `toUInt8((${text} != '' OR ${isPresent}) * ${KIND_PRESENT} + ${isJson} * ${KIND_JSON})`;
}

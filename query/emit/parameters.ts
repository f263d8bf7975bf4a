import type { ParameterType } from "../functions/definition.ts";

/** The types of the values beside a statement, lists of them included. */
type StatementParameterType = ParameterType | `Array(${ParameterType})` | `Array(Nullable(${ParameterType}))`;

/**
 * Collects the values beside a statement. Text comes from the tables of this library alone: whatever a user wrote is
 * a parameter, and the text shows no more of it than its number.
 */
export class Parameters {
  readonly #values: Record<string, string> = {};
  /** The places of values by type and text: what occurs twice travels once, and is seen to be the same. */
  readonly #places = new Map<string, string>();
  #count = 0;
  #aliasCount = 0;

  /** A place for `value`, which is the text of a value of that type. Lone surrogates become U+FFFD. */
  add(type: StatementParameterType, value: string): string {
    const text = value.toWellFormed();
    const known = this.#places.get(`${type} ${text}`);
    if (known !== undefined) return known;
    const name = `p${this.#count++}`;
    this.#values[name] = text;
    const place = `{${name}:${type}}`;
    this.#places.set(`${type} ${text}`, place);
    return place;
  }

  addTexts(values: readonly string[]): string {
    return this.add("Array(String)", `[${values.map(quote).join(",")}]`);
  }

  /** A name for something that is computed once, unique in the statement. */
  newAlias(): string {
    return `e${this.#aliasCount++}`;
  }

  /** The same for something of a group of rows: its name tells the layers of a SELECT so. */
  newGroupAlias(): string {
    return `g${this.#aliasCount++}`;
  }

  /** The same for a step, which what mentions it stands around: its name tells the layers of a SELECT so. */
  newStepAlias(): string {
    return `s${this.#aliasCount++}`;
  }

  finish(): Readonly<Record<string, string>> {
    return this.#values;
  }
}

/** A text as an element of an array parameter. */
function quote(text: string): string {
  return `'${text.replace(/[\\'\0\b\f\n\r\t]/g, (character) => ESCAPES[character] ?? character)}'`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "'": "\\'",
  "\0": "\\0",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

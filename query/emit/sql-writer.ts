/** The types in which values travel beside a statement. */
export type ParameterType = "String" | "Bool" | "Int32" | "Int64" | "UInt32" | "UInt64" | "Float64";

/**
 * Collects the text of a statement and the values beside it; only ever appends. Text comes from the tables of this
 * library alone: whatever a user wrote is a parameter, and the text shows no more of it than its number.
 */
export class SqlWriter {
  readonly #parts: string[] = [];
  readonly #parameters: Record<string, string> = {};
  #parameterCount = 0;

  text(sql: string): void {
    this.#parts.push(sql);
  }

  /** A place for `value`, which is the text of a value of that type. Lone surrogates become U+FFFD. */
  parameter(type: ParameterType, value: string): void {
    const name = `p${this.#parameterCount++}`;
    this.#parameters[name] = value.toWellFormed();
    this.#parts.push(`{${name}:${type}}`);
  }

  /** Writes the items with the separator between them. */
  list<T>(items: Iterable<T>, separator: string, write: (item: T) => void): void {
    let isFirst = true;
    for (const item of items) {
      if (!isFirst) this.text(separator);
      isFirst = false;
      write(item);
    }
  }

  finish(): { sql: string; parameters: Readonly<Record<string, string>> } {
    return { sql: this.#parts.join(""), parameters: this.#parameters };
  }
}

import { isRecord, type JsonRecord } from "../../api/json.ts";

/** Of what another program keeps: reads its members by what they have to be, and knows which of them nobody has read. */
export class ForeignRecord {
  readonly #values: JsonRecord;
  readonly #read = new Set<string>();

  constructor(values: unknown) {
    this.#values = isRecord(values) ? values : {};
  }

  /** Null where it is not set, or is nothing that a text can say. */
  text(name: string): string | null {
    const value = this.#take(name);
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    return typeof value === "string" && value !== "" ? value : null;
  }

  number(name: string): number | null {
    const value = this.#take(name);
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    return typeof number === "number" && Number.isFinite(number) ? number : null;
  }

  /** SQLite has 0 and 1 for it. */
  flag(name: string, otherwise = false): boolean {
    const value = this.#take(name);
    return value === null || value === undefined
      ? otherwise
      : value !== false && value !== 0 && value !== "false";
  }

  list(name: string): readonly unknown[] {
    const value = this.#take(name);
    return Array.isArray(value) ? value : [];
  }

  texts(name: string): string[] {
    return this.list(name).filter((item) => typeof item === "string");
  }

  records(name: string): ForeignRecord[] {
    return this.list(name).map((item) => new ForeignRecord(item));
  }

  record(name: string): ForeignRecord {
    return new ForeignRecord(this.#take(name));
  }

  /** The members of a map of texts. */
  entries(name: string): [string, string][] {
    const value = this.#take(name);
    return isRecord(value)
      ? Object.entries(value).flatMap(([key, member]): [string, string][] =>
          ["string", "number", "boolean"].includes(typeof member) ? [[key, String(member)]] : [],
        )
      : [];
  }

  has(name: string): boolean {
    return isSet(this.#values[name]);
  }

  /** Says of members that there is nothing in them to take over. */
  pass(...names: readonly string[]): void {
    for (const name of names) this.#read.add(name);
  }

  /** Members that say something and that nobody has read. */
  unread(): string[] {
    return Object.entries(this.#values).flatMap(([name, value]) =>
      this.#read.has(name) || !isSet(value) ? [] : [name],
    );
  }

  #take(name: string): unknown {
    this.#read.add(name);
    return Object.hasOwn(this.#values, name) ? this.#values[name] : null;
  }
}

/** What is empty, zero or false says nothing. */
function isSet(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === 0) return false;
  if (typeof value === "string") return !["", "0", "[]", "{}", "null"].includes(value);
  if (Array.isArray(value)) return value.length > 0;
  return !isRecord(value) || Object.keys(value).length > 0;
}

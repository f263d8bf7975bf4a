import { readDatetime, readTimespan, type ScalarType } from "../../../query/index.ts";

const LONG_MAX = 2n ** 63n - 1n;
const INT_MAX = 2n ** 31n - 1n;
const WHOLE = /^[+-]?\d{1,19}$/;
const REAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * A cell of a file as the log store keeps it: digits of numbers, of times those of nanoseconds, `1` and `0` of truth values,
 * JSON of dynamic ones, empty for nothing. Null for a text that is no value of the type. A text that is no JSON is, as a
 * dynamic value, that text.
 */
export function cellText(text: string, type: ScalarType): string | null {
  if (type === "string") return text;
  const trimmed = text.trim();
  if (trimmed === "") return "";
  switch (type) {
    case "bool":
      return BOOLS.get(trimmed.toLowerCase()) ?? null;
    case "int":
      return wholeNumber(trimmed, INT_MAX);
    case "long":
      return wholeNumber(trimmed, LONG_MAX);
    case "real":
    case "decimal":
      return REAL.test(trimmed) ? trimmed : (DENORMALS.get(trimmed.toLowerCase()) ?? null);
    case "datetime":
      return inRange(readDatetime(trimmed));
    case "timespan":
      return inRange(readTimespan(trimmed));
    case "guid":
      return GUID.test(trimmed.toLowerCase()) ? trimmed.toLowerCase() : null;
    case "dynamic":
      return isJson(trimmed) ? trimmed : JSON.stringify(text);
  }
}

const BOOLS: ReadonlyMap<string, string> = new Map([
  ["true", "1"],
  ["1", "1"],
  ["false", "0"],
  ["0", "0"],
]);

const DENORMALS: ReadonlyMap<string, string> = new Map([
  ["nan", "nan"],
  ["inf", "inf"],
  ["+inf", "inf"],
  ["infinity", "inf"],
  ["-inf", "-inf"],
  ["-infinity", "-inf"],
]);

function wholeNumber(text: string, max: bigint): string | null {
  if (!WHOLE.test(text)) return null;
  const value = BigInt(text.replace(/^\+/, ""));
  return value <= max && value >= -max - 1n ? String(value) : null;
}

function inRange(nanoseconds: bigint | undefined): string | null {
  if (nanoseconds === undefined || nanoseconds > LONG_MAX || nanoseconds < -LONG_MAX) return null;
  return String(nanoseconds);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A number as people write one who mean a number: `007` and `+49` are texts. */
const PLAIN_WHOLE = /^(?:0|-?[1-9]\d*)$/;
const PLAIN_REAL = /^-?(?:0|[1-9]\d*)\.\d+(?:e[+-]?\d{1,3})?$/i;
const PLAIN_TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/i;

const INFERRED: readonly (readonly [ScalarType, (text: string) => boolean])[] = [
  ["bool", (text) => /^(?:true|false)$/i.test(text)],
  ["long", (text) => PLAIN_WHOLE.test(text) && cellText(text, "long") !== null],
  ["real", (text) => (PLAIN_REAL.test(text) || PLAIN_WHOLE.test(text)) && cellText(text, "real") !== null],
  ["datetime", (text) => PLAIN_TIME.test(text) && cellText(text, "datetime") !== null],
];

/** Finds the type that every value of a column has: of those that may still be, the first. A column of nothing is a string. */
export class TypeGuess {
  #possible = INFERRED;
  #hasValue = false;

  add(text: string): void {
    if (text === "") return;
    this.#hasValue = true;
    if (this.#possible.length > 0) this.#possible = this.#possible.filter(([, fits]) => fits(text));
  }

  get type(): ScalarType {
    const [first] = this.#possible;
    return this.#hasValue && first !== undefined ? first[0] : "string";
  }
}

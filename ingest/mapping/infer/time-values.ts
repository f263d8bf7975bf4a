import type { TimestampParse } from "../mapping.ts";
import { readTimestamp } from "../timestamp-forms.ts";
import type { Leaf } from "./leaves.ts";

/** The years that a number must fall in to be taken for a time: others are counters, sizes and identifiers. */
const EPOCH_SECONDS_MIN = Date.UTC(2000, 0, 1) / 1000;
const EPOCH_SECONDS_MAX = Date.UTC(2100, 0, 1) / 1000;
/** Digits of whole seconds in that range, and how many more the finer units have. */
const UNITS: readonly {
  readonly scale: number;
  readonly parse: TimestampParse;
  readonly described: string;
}[] = [
  { scale: 1, parse: "epoch_s", described: "seconds since 1970" },
  { scale: 1e3, parse: "epoch_ms", described: "milliseconds since 1970" },
  { scale: 1e6, parse: "auto", described: "microseconds since 1970" },
  { scale: 1e9, parse: "auto", described: "nanoseconds since 1970" },
];
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/i;

/** What the values of a field would be as times. */
export interface TimeValues {
  readonly parse: TimestampParse;
  /** For people. */
  readonly described: string;
  readonly isNumber: boolean;
  /** Digits behind the second, 0 to 9, of the finest value. */
  readonly precision: number;
}

/** How the values are times; null when one of them is none. */
export function timeValuesOf({ texts }: Leaf): TimeValues | null {
  const [first] = texts;
  if (first === undefined) return null;
  const isNumber = /^\d+(\.\d+)?$/.test(first);
  return isNumber ? epochValues(texts) : dateTimeValues(texts);
}

function epochValues(texts: readonly string[]): TimeValues | null {
  const numbers = texts.map((text) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN));
  const at = UNITS.findIndex(({ scale }) =>
    numbers.every((value) => value >= EPOCH_SECONDS_MIN * scale && value < EPOCH_SECONDS_MAX * scale),
  );
  const unit = UNITS[at];
  if (unit === undefined) return null;
  if (texts.some((text) => readTimestamp(text, unit.parse) === null)) return null;
  const fraction = Math.max(...texts.map((text) => text.split(".")[1]?.length ?? 0));
  return { ...unit, isNumber: true, precision: Math.min(9, at * 3 + fraction) };
}

function dateTimeValues(texts: readonly string[]): TimeValues | null {
  if (
    texts.some((text) => !/^(\d{1,4}[-/ ]|[A-Z][a-z]{2})/.test(text) || readTimestamp(text, "auto") === null)
  )
    return null;
  const isIso = texts.every((text) => RFC_3339.test(text));
  const precision = Math.max(...texts.map((text) => /[.,](\d{1,9})/.exec(text)?.[1]?.length ?? 0));
  return {
    parse: isIso ? "iso" : "auto",
    described: isIso ? "date-times with an offset" : "date-times",
    isNumber: false,
    precision,
  };
}

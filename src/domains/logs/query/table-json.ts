import type { CompiledColumn } from "../../../../query/index.ts";
import { encodeAttributes } from "../entry-json.ts";

/**
 * Rows in the wire formats of their columns as JSON text, an array of arrays, in texts of a row each; written by hand
 * because a number in memory cannot hold a long. Numbers are JSON numbers with every digit, except `"NaN"`, `"Infinity"`
 * and `"-Infinity"`; a datetime is ISO 8601 with 7 digits of fraction, or 9 where it needs them; a timespan is
 * `d.hh:mm:ss.fffffff`, likewise; a dynamic value is itself; nothing is null. Stops at so many rows or characters, and
 * returns whether rows are missing. Throws a TypeError for a cell in another format.
 */
export function* encodeTable(
  columns: readonly Pick<CompiledColumn, "type" | "wireFormat">[],
  rows: Iterable<readonly unknown[]>,
  { maxRows, maxChars }: { maxRows: number; maxChars: number },
): Generator<string, boolean> {
  const encoders = columns.map(encoderOf);
  let count = 0;
  let chars = 0;
  let isTruncated = false;
  yield "[";
  for (const row of rows) {
    const line = `[${encoders.map((encode, i) => encode(row[i])).join(",")}]`;
    chars += line.length + 1;
    isTruncated = count >= maxRows || chars > maxChars;
    if (isTruncated) break;
    yield count === 0 ? line : `,${line}`;
    count++;
  }
  yield "]";
  return isTruncated;
}

type CellEncoder = (cell: unknown) => string;

function encoderOf({ type, wireFormat }: Pick<CompiledColumn, "type" | "wireFormat">): CellEncoder {
  switch (wireFormat) {
    case "bag":
      return encodeAttributes;
    case "json":
      return (cell) => (cell === null || cell === "" ? "null" : text(cell));
    case "integer":
      return orNull((cell) => integerText(cell));
    case "nanoseconds":
      return orNull((cell) => {
        const ns = BigInt(integerText(cell));
        return `"${type === "datetime" ? formatDatetime(ns) : formatTimespan(ns)}"`;
      });
    case "value":
      if (type === "bool") return orNull(truthValue);
      if (type === "guid")
        return (cell) => (cell === null || cell === "" ? "null" : JSON.stringify(text(cell)));
      if (type === "string") return orNull((cell) => JSON.stringify(text(cell)));
      return orNull(numberText);
  }
}

function orNull(encode: CellEncoder): CellEncoder {
  return (cell) => (cell === null ? "null" : encode(cell));
}

const DENORMALS: ReadonlyMap<unknown, string> = new Map([
  ["nan", '"NaN"'],
  ["-nan", '"NaN"'],
  ["inf", '"Infinity"'],
  ["-inf", '"-Infinity"'],
]);

function numberText(cell: unknown): string {
  if (typeof cell === "number") return Object.is(cell, -0) ? "-0" : String(cell);
  const denormal = DENORMALS.get(cell);
  if (denormal === undefined) throw foreign();
  return denormal;
}

function truthValue(cell: unknown): string {
  if (typeof cell === "boolean") return String(cell);
  if (cell === 0 || cell === 1) return cell === 1 ? "true" : "false";
  throw foreign();
}

function integerText(cell: unknown): string {
  if (typeof cell === "number" && Number.isSafeInteger(cell)) return String(cell);
  if (typeof cell !== "string" || !/^-?\d+$/.test(cell)) throw foreign();
  return cell;
}

function text(cell: unknown): string {
  if (typeof cell !== "string") throw foreign();
  return cell;
}

function foreign(): TypeError {
  return new TypeError("the log store answered in another format");
}

const NANOS_PER_SECOND = 1_000_000_000n;
const MILLIS_PER_SECOND = 1000;

function formatDatetime(ns: bigint): string {
  const fraction = ((ns % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND;
  const seconds = new Date(Number((ns - fraction) / NANOS_PER_SECOND) * MILLIS_PER_SECOND).toISOString();
  return `${seconds.slice(0, -".000Z".length)}.${fractionText(fraction)}Z`;
}

/** As Kusto writes it: days and fraction only where there are any. */
function formatTimespan(ns: bigint): string {
  const length = ns < 0n ? -ns : ns;
  const seconds = length / NANOS_PER_SECOND;
  const fraction = length % NANOS_PER_SECOND;
  const days = seconds / 86_400n;
  const clock = [(seconds / 3600n) % 24n, (seconds / 60n) % 60n, seconds % 60n].map((part) =>
    part.toString().padStart(2, "0"),
  );
  return `${ns < 0n ? "-" : ""}${days > 0n ? `${days}.` : ""}${clock.join(":")}${fraction > 0n ? `.${fractionText(fraction)}` : ""}`;
}

/** 7 digits, which is Kusto's tick, unless that would lose something. */
function fractionText(nanoseconds: bigint): string {
  const digits = nanoseconds.toString().padStart(9, "0");
  return digits.endsWith("00") ? digits.slice(0, 7) : digits;
}

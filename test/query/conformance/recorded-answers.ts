import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CompiledColumn, ScalarType } from "../../../query/index.ts";

/** Queries with what the real engine answered; not a part of the repository. */
const COLLECTIONS = join(import.meta.dir, "../../../../shared/data/kql");

export interface RecordedQuery {
  readonly id: string;
  readonly text: string;
  /** Null where the engine refused the query. */
  readonly answer: RecordedAnswer | null;
}

interface RecordedAnswer {
  readonly columns: readonly string[];
  readonly types: readonly string[];
  /** Each row as a canonical text; the first rows only where `rowCount` says that there were more. */
  readonly rows: readonly string[];
  readonly rowCount: number;
  readonly form: "values" | "text";
}

/** A collection as it lies on the disk; null where it is absent. */
export function readCollection(name: string): readonly Record<string, unknown>[] | null {
  const path = join(COLLECTIONS, `${name}.json`);
  if (!existsSync(path)) return null;
  const parsed: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!Array.isArray(parsed) || !parsed.every(isRecord)) throw new TypeError(`${name} is no list of records`);
  return parsed;
}

export function readRecordedQueries(): readonly RecordedQuery[] | null {
  return (
    readCollection("engine")?.map(({ id, kql, expected }) => {
      if (!isRecord(expected)) throw new TypeError("a query without an answer");
      return {
        id: String(id),
        text: String(kql),
        answer: expected.error === undefined ? readAnswer(expected) : null,
      };
    }) ?? null
  );
}

function readAnswer(expected: Record<string, unknown>): RecordedAnswer {
  const columns = strings(expected.columns);
  if (Array.isArray(expected.rows)) {
    const types = strings(expected.column_types);
    const isBool = types.map((type) => type === "SByte");
    const rows = expected.rows.map((row) => rowOfValues(list(row), isBool));
    return { columns, types, rows, rowCount: rows.length, form: "values" };
  }
  const rows = strings(expected.sample_rows_text).map(canonicalText);
  return {
    columns,
    types: strings(expected.coarse_types),
    rows,
    rowCount: Number(expected.row_count),
    form: "text",
  };
}

const TYPE_NAMES: Readonly<Record<ScalarType, readonly string[]>> = {
  bool: ["SByte", "Bool"],
  int: ["Int32", "Int"],
  long: ["Int64", "Int"],
  real: ["Double", "Real"],
  decimal: ["SqlDecimal", "Real", "Decimal"],
  string: ["String"],
  datetime: ["DateTime"],
  timespan: ["TimeSpan", "Timespan"],
  guid: ["Guid", "String"],
  dynamic: ["Object", "Dynamic"],
};

/** Operators behind which rows keep the order that they have. */
const KEEPS_ORDER =
  /^(?:where|filter|extend|project|project-away|project-rename|project-reorder|take|limit|render|as)\b/;

/** Whether the query says in which order its rows are. */
export function isOrdered(text: string): boolean {
  const operators = text.split("|").map((operator) => operator.trim());
  const last = operators.findLast((operator) => !KEEPS_ORDER.test(operator));
  return operators.length > 1 && last !== undefined && /^(?:sort|order|top)\s/.test(last);
}

/** What differs between the recorded answer and ours, in their order where the query says one; null when nothing does. */
export function differenceOf(
  recorded: RecordedAnswer,
  columns: readonly CompiledColumn[],
  rows: readonly (readonly unknown[])[],
  inOrder = false,
): string | null {
  const names = columns.map(({ name }) => name);
  if (JSON.stringify(names) !== JSON.stringify(recorded.columns))
    return `columns ${names} for ${recorded.columns}`;
  const wrongType = columns.find(({ type }, i) => !TYPE_NAMES[type].includes(recorded.types[i] ?? ""));
  if (wrongType !== undefined) return `${wrongType.name} is a ${wrongType.type} for ${recorded.types}`;
  if (rows.length !== recorded.rowCount) return `${rows.length} rows for ${recorded.rowCount}`;
  const isBool = columns.map(({ type }) => type === "bool");
  const values = rows.map((row) => row.map((cell, i) => cellValue(cell, columns[i]?.type ?? "dynamic")));
  const own = values.map((row) =>
    recorded.form === "values"
      ? rowOfValues(row, isBool)
      : canonicalText(`(${row.map((cell, i) => cellText(cell, columns[i]?.type ?? "dynamic")).join(", ")})`),
  );
  const misplaced = recorded.rows.findIndex((row, i) => own[i] !== row);
  if (misplaced < 0) return null;
  if (inOrder) return `row ${misplaced} is ${own[misplaced]} for ${recorded.rows[misplaced]}`;
  const left = [...own];
  for (const row of recorded.rows) {
    const at = left.indexOf(row);
    if (at < 0) return `no row ${row} in ${own.slice(0, 5)}`;
    left.splice(at, 1);
  }
  return null;
}

/** A cell in its wire format as the value that the engine's JSON has. */
function cellValue(cell: unknown, type: ScalarType): unknown {
  if (cell === null || cell === undefined) return null;
  switch (type) {
    case "datetime":
      return datetimeText(BigInt(String(cell)));
    case "timespan":
      return timespanText(BigInt(String(cell)));
    case "long":
      return Number(cell);
    case "guid":
      return cell === "" ? null : cell;
    case "dynamic":
      return cell === "" ? null : JSON.parse(String(cell));
    default:
      return cell;
  }
}

function rowOfValues(row: readonly unknown[], isBool: readonly boolean[]): string {
  return JSON.stringify(
    row.map((value, i) => (value !== null && isBool[i] ? Boolean(value) : canonical(value))),
  );
}

/** Numbers to twelve digits, times without trailing zeros, members in the order of their names. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (isRecord(value))
    return Object.fromEntries(
      Object.keys(value)
        .sort()
        .map((key) => [key, canonical(value[key])]),
    );
  if (typeof value === "number")
    return Number.isFinite(value) ? Number(value.toPrecision(12)) : String(value);
  if (typeof value !== "string") return value;
  if (/^-?nan$/i.test(value)) return "NaN";
  if (/^(?:\+?inf|Infinity)$/.test(value)) return "Infinity";
  if (/^-(?:inf|Infinity)$/.test(value)) return "-Infinity";
  return shortTimes(value);
}

function shortTimes(text: string): string {
  return text.replace(/(\d{4}-\d\d-\d\dT[\d:]+)(?:\.(\d+))?Z/g, (_, whole: string, fraction = "") => {
    const digits = String(fraction).replace(/0+$/, "");
    return `${whole}${digits === "" ? "" : `.${digits}`}Z`;
  });
}

/** As the recorder of the text form wrote values. */
function cellText(value: unknown, type: ScalarType): string {
  if (value === null) return "null";
  switch (type) {
    case "bool":
      return value === true ? "True" : "False";
    case "string":
    case "guid":
      return `'${String(value)}'`;
    case "dynamic":
      return JSON.stringify(value);
    default:
      return String(canonical(value));
  }
}

/** Texts as they are; around them the recorder laid values out in lines, which says nothing. */
const TEXT_OR_SPACE = /'[^']*'|"(?:\\.|[^"\\])*"|\s+/g;

/** Without white space outside of texts, numbers to nine digits. */
function canonicalText(text: string): string {
  const numbers = /(?:(?<=":)|(?<![\w.:-]))-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w:.-])/gi;
  return shortTimes(
    text.replace(TEXT_OR_SPACE, (part) => (/^\s/.test(part) ? "" : part)).replaceAll("-nan", "NaN"),
  ).replace(numbers, (number) => {
    const value = Number(number);
    return value === 0 ? "0" : String(Number(value.toPrecision(9)));
  });
}

function datetimeText(nanoseconds: bigint): string {
  const rest = ((nanoseconds % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const millis = new Date(Number((nanoseconds - rest) / 1_000_000n)).toISOString().slice(0, -1);
  return `${millis}${String(rest / 100n).padStart(4, "0")}Z`;
}

function timespanText(nanoseconds: bigint): string {
  const ticks = (nanoseconds < 0n ? -nanoseconds : nanoseconds) / 100n;
  const part = (divisor: bigint, modulus: bigint) => String((ticks / divisor) % modulus).padStart(2, "0");
  const [days, fraction] = [ticks / 864_000_000_000n, ticks % 10_000_000n];
  const clock = `${part(36_000_000_000n, 24n)}:${part(600_000_000n, 60n)}:${part(10_000_000n, 60n)}`;
  return `${nanoseconds < 0n ? "-" : ""}${days > 0n ? `${days}.` : ""}${clock}${fraction > 0n ? `.${String(fraction).padStart(7, "0")}` : ""}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError("no list");
  return value;
}

function strings(value: unknown): readonly string[] {
  return list(value).map(String);
}

import { ThreadSlice } from "../../concurrency/thread-turns.ts";
import {
  guessIndicator,
  type IndicatorType,
  type IndicatorValue,
  readIndicator,
} from "../../entities/indicators/indicator-value.ts";
import { FILE_MAX_ROWS } from "../../entities/indicators/limits.ts";
import { delimitedRows, FileProblem } from "../../kql/kept/delimited-rows.ts";
import { SEVERITIES, type Severity } from "../../problems/events.ts";
import { storableText } from "../../storage/storable-text.ts";
import type { FileRow } from "./file-row.ts";
import { mispRows } from "./misp.ts";
import { stixRows } from "./stix.ts";

export const FILE_FORMATS = ["csv", "stix", "misp"] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** An indicator with what the file says of it; what it does not say is null. */
export interface FileIndicator extends IndicatorValue {
  readonly severity: Severity | null;
  readonly description: string | null;
  readonly expiresAt: string | null;
  readonly confidence: number | null;
  readonly source: string | null;
}

interface RejectedRow {
  readonly place: string;
  readonly value: string;
  readonly reason: string;
}

export interface FileReading {
  readonly rows: number;
  /** Each once; of one that is there several times the last. */
  readonly indicators: readonly FileIndicator[];
  readonly rejected: readonly RejectedRow[];
}

const SHOWN_VALUE_MAX_CHARS = 128;

/** Names of types, in small letters, as feeds have them. */
const TYPES: Readonly<Record<string, IndicatorType>> = {
  ...names(
    "ip",
    "ip ipv4 ipv6 cidr ip-src ip-dst ipv4-addr ipv6-addr ipv4_address ipv6_address address netblock",
  ),
  ...names("domain", "domain hostname host fqdn domain-name"),
  ...names(
    "hash",
    "hash md5 sha1 sha256 sha512 sha-1 sha-256 sha-512 md5_hash sha1_hash sha256_hash file_hash filehash",
  ),
};

/** Reads a file in slices between which others have the thread. Throws FileProblem for what is not of the format. */
export async function readFile(format: FileFormat, text: string): Promise<FileReading> {
  const rows = await rowsOf(format, text);
  if (rows.length > FILE_MAX_ROWS) throw new FileProblem(`The file has more than ${FILE_MAX_ROWS} rows.`);
  const indicators = new Map<string, FileIndicator>();
  const rejected: RejectedRow[] = [];
  const slice = new ThreadSlice();
  for (const row of rows) {
    const read = readRow(row);
    if (typeof read === "string")
      rejected.push({
        place: row.place,
        value: storableText(row.value.slice(0, SHOWN_VALUE_MAX_CHARS)),
        reason: read,
      });
    else indicators.set(`${read.type}\t${read.value}`, read);
    if (slice.isOver) await slice.yield();
  }
  return { rows: rows.length, indicators: [...indicators.values()], rejected };
}

async function rowsOf(format: FileFormat, text: string): Promise<readonly FileRow[]> {
  if (format === "csv")
    return csvRows(
      await delimitedRows(text, { delimiter: ",", isLenient: true, maxRows: FILE_MAX_ROWS + 1 }),
    );
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new FileProblem("The file is not JSON.");
  }
  return format === "stix" ? stixRows(json) : mispRows(json);
}

const COLUMNS: Readonly<Record<string, keyof FileRow>> = {
  ...{ type: "type", indicator_type: "type", ioc_type: "type", kind: "type" },
  ...{
    value: "value",
    indicator: "value",
    ioc: "value",
    ioc_value: "value",
    ip: "value",
    domain: "value",
    hash: "value",
  },
  ...{ severity: "severity", description: "description", comment: "description" },
  ...{ expiresat: "expiresAt", expires_at: "expiresAt", valid_until: "expiresAt" },
  ...{ confidence: "confidence", source: "source" },
};

/** The first row names the columns where it has one that is called as a value may be; else the first cell is the value. */
function csvRows(lines: readonly string[][]): FileRow[] {
  const places = lines
    .map((cells, i) => ({ cells, place: `row ${i + 1}` }))
    .filter(({ cells }) => !(cells[0] ?? "").trim().startsWith("#"));
  const header = (places[0]?.cells ?? []).map((name) => COLUMNS[name.trim().toLowerCase()]);
  const isNamed = header.includes("value");
  const columns = isNamed ? header : (["value", "type"] as const);
  return (isNamed ? places.slice(1) : places).map(({ cells, place }) => {
    const said: Partial<Record<keyof FileRow, string>> = {};
    for (const [i, column] of columns.entries()) {
      const cell = cells[i]?.trim() ?? "";
      if (column !== undefined && cell !== "") said[column] = cell;
    }
    return { ...said, place, type: said.type ?? "", value: said.value ?? "" };
  });
}

/** The indicator, or why the row is none. */
function readRow(row: FileRow): FileIndicator | string {
  if (row.refusal !== undefined) return row.refusal;
  if (row.value === "") return "has no value";
  const type = TYPES[row.type.toLowerCase()];
  if (row.type !== "" && type === undefined)
    return `is of a type that is not looked for: ${row.type.slice(0, 64)}`;
  const guessed = type === undefined ? guessIndicator(row.value) : null;
  if (type === undefined && guessed === null) return "is no address, no domain and no hash";
  const reading = type === undefined ? null : readIndicator(type, row.value);
  if (reading?.ok === false) return reading.message;
  const indicator = reading?.ok ? reading.indicator : guessed;
  if (indicator === null) return "is no indicator";
  const severity = SEVERITIES.find((one) => one === row.severity?.toLowerCase()) ?? null;
  if (row.severity !== undefined && severity === null)
    return "has a severity that is none of low, medium, high, critical";
  const expiresMs = row.expiresAt === undefined ? null : Date.parse(row.expiresAt);
  if (expiresMs !== null && !(expiresMs > 0 && expiresMs < 4e12)) return "has a time of expiry that is none";
  const confidence = row.confidence === undefined ? null : Number(row.confidence);
  if (confidence !== null && !(Number.isInteger(confidence) && confidence >= 0 && confidence <= 100))
    return "has a confidence that is no whole number from 0 to 100";
  return {
    ...indicator,
    severity,
    confidence,
    expiresAt: expiresMs === null ? null : new Date(expiresMs).toISOString(),
    description: textOf(row.description, 2048),
    source: textOf(row.source, 255),
  };
}

function textOf(text: string | undefined, maxChars: number): string | null {
  const cut = storableText([...(text ?? "").trim().slice(0, 2 * maxChars)].slice(0, maxChars).join(""));
  return cut === "" ? null : cut;
}

function names(type: IndicatorType, text: string): Record<string, IndicatorType> {
  return Object.fromEntries(text.split(" ").map((name) => [name, type]));
}

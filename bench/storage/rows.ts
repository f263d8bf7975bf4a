import type { LineTemplate, Piece } from "./lines.ts";
import { digitsOf, type Random } from "./random.ts";

/** 2026-01-10T00:00:00Z: a fixed day, so that every run stores the same bytes. */
export const dayStartMs = 1_768_003_200_000;
export const dayMs = 86_400_000;

/** The rows of `source`; `sourceTable` and `tsvRow` name the columns in the same order. */
export const sourceTable = `CREATE TABLE source
(
  organization_id UInt32, ts DateTime64(9, 'UTC'), received_at DateTime64(3, 'UTC'), sequence UInt16,
  level Enum8('' = 0, 'trace' = 1, 'debug' = 2, 'info' = 3, 'warn' = 4, 'error' = 5, 'fatal' = 6),
  service LowCardinality(String), source LowCardinality(String), host LowCardinality(String),
  message String, trace_id String, span_id String, event_id String,
  attrs Map(LowCardinality(String), String), attr_json_keys Array(LowCardinality(String)), row UInt64,
  id UInt64 MATERIALIZED bitShiftLeft(toUnixTimestamp64Milli(received_at) - 1577836800000, 22) + bitShiftLeft(sequence, 10) + 1
) ENGINE = MergeTree ORDER BY row SETTINGS index_granularity = 1000`;

/** One row in 200 000 carries one of these words: what a needle search looks for. */
export function needleOf(row: number): string {
  return `Qz${digitsOf(row, 10, true)}`;
}

export const needleEveryRows = 200_000;
export const needleOffset = 7;

/** Writes row number `row` of `total` as one TSV line of `sourceTable`. */
export function tsvRow(
  row: number,
  total: number,
  templates: readonly LineTemplate[],
  random: Random,
): string {
  const template = templates[random.below(templates.length)];
  if (template === undefined) throw new Error("no line templates");
  const receivedMs = dayStartMs + Math.floor((row / total) * dayMs);
  const tsMs = Math.max(dayStartMs, receivedMs - random.below(900));
  const serviceSlot = random.below(3);
  const pool = Math.floor(row / 2000) * 600;
  const traced = random.unit() < 0.6;
  const trace = pool + random.below(400);
  return [
    organizationOf(random.unit()),
    `${tsMs}${String(random.below(1_000_000)).padStart(6, "0")}`.replace(/^(\d{10})/, "$1."),
    `${Math.floor(receivedMs / 1000)}.${String(receivedMs % 1000).padStart(3, "0")}`,
    row % 4096,
    template.level,
    `${template.system}-${["api", "worker", "gateway"][serviceSlot]}`,
    "ship",
    `${template.system}-${random.below(12)}.prod`,
    escapeTsv(messageOf(template.pieces, pool, row, random)),
    traced ? digitsOf(trace * 7 + 1, 32, true) : "",
    traced ? digitsOf(trace * 131 + row, 16, true) : "",
    random.unit() < 0.5 ? digitsOf(row * 5 + 3, 26, true) : "",
    attributesOf(template, random),
    "['status','duration_ms','pid']",
    row,
  ].join("\t");
}

function organizationOf(unit: number): number {
  if (unit < 0.95) return 1;
  return unit < 0.99 ? 2 : 3;
}

function messageOf(pieces: readonly Piece[], pool: number, row: number, random: Random): string {
  let message = "";
  for (const piece of pieces) {
    if (piece.kind === "text") message += piece.text;
    else if (piece.kind === "number")
      message += digitsOf(random.below(2000) + piece.length, piece.length, false);
    else message += digitsOf(pool + random.below(500), piece.length, piece.kind === "hex");
  }
  if (row % needleEveryRows === needleOffset) message += ` ticket ${needleOf(row)}`;
  if (row % 1000 === 13) message += " Öffnung der Straße ΟΔΟΣ";
  return message;
}

function attributesOf(template: LineTemplate, random: Random): string {
  const fields = [
    `'user_id':'u${Math.floor(100_000 * random.unit() ** 3)}'`,
    `'status':'${statusOf(random.unit())}'`,
    `'duration_ms':'${(Math.exp(random.unit() * 7) - 1).toFixed(2)}'`,
    `'component':'${template.component}'`,
    `'pid':'${random.below(32768)}'`,
  ];
  if (random.unit() < 0.6)
    fields.push(`'path':'/api/v1/${paths[random.below(paths.length)]}/${random.below(5000)}'`);
  if (random.unit() < 0.6) fields.push(`'method':'${random.unit() < 0.8 ? "GET" : "POST"}'`);
  if (random.unit() < 0.5) fields.push(`'version':'1.${random.below(12)}.${random.below(4)}'`);
  return `{${fields.join(",")}}`;
}

const paths = ["orders", "users", "carts", "items", "search", "sessions", "invoices", "reports"];

function statusOf(unit: number): number {
  if (unit < 0.9) return 200;
  if (unit < 0.96) return 404;
  return unit < 0.99 ? 302 : 500;
}

function escapeTsv(text: string): string {
  return text.replace(/[\\\t\n\r]/g, (character) => {
    if (character === "\\") return "\\\\";
    if (character === "\t") return "\\t";
    return character === "\n" ? "\\n" : "\\r";
  });
}

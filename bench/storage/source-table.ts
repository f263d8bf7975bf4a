import { join } from "node:path";
import type { BenchEngine } from "./engine.ts";
import { readLineTemplates, synthesizeLineTemplates } from "./lines.ts";
import { seededRandom } from "./random.ts";
import { sourceTable, tsvRow } from "./rows.ts";

const SEED = 42;
const ROWS_PER_CHUNK = 50_000;
const loghub = join(import.meta.dir, "../../../shared/data/loghub");

/** Columns of `logs` in the order in which the bench selects and inserts them. */
export const logColumns = [
  "organization_id",
  "ts",
  "id",
  "received_at",
  "level",
  "service",
  "source",
  "host",
  "message",
  "trace_id",
  "span_id",
  "event_id",
  "attrs",
  "attr_json_keys",
] as const;

/** Fills `source` with `rows` rows of one day, the same for the same lines. Says where the lines are from. */
export async function fillSource(engine: BenchEngine, rows: number): Promise<string> {
  const random = seededRandom(SEED);
  const real = readLineTemplates(loghub);
  const templates = real.length > 0 ? real : synthesizeLineTemplates(random, 4000);
  await engine.query(sourceTable);
  for (let from = 0; from < rows; from += ROWS_PER_CHUNK) {
    const count = Math.min(ROWS_PER_CHUNK, rows - from);
    const lines = Array.from({ length: count }, (_, index) => tsvRow(from + index, rows, templates, random));
    await engine.insert("INSERT INTO source FORMAT TSV", `${lines.join("\n")}\n`);
  }
  return real.length > 0 ? `${real.length} real lines` : `${templates.length} made-up lines`;
}

/** Rows [from, to) of `source` as a subquery with the columns of `logs`. */
export function sourceRows(from: number, to: number, attrs = "attrs"): string {
  const columns = logColumns.map((name) => (name === "attrs" && attrs !== name ? `${attrs} AS attrs` : name));
  return `SELECT ${columns.join(", ")} FROM source WHERE row >= ${from} AND row < ${to}`;
}

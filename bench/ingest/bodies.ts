import { join } from "node:path";
import {
  type LineTemplate,
  type Piece,
  readLineTemplates,
  synthesizeLineTemplates,
} from "../storage/lines.ts";
import { digitsOf, type Random, seededRandom } from "../storage/random.ts";

const SEED = 20_260_101;
const LOGHUB = join(import.meta.dir, "../../../shared/data/loghub");
/** Replayed over the day before this instant, so that every run stores the same entries. */
const LAST_MS = Date.parse("2026-01-11T00:00:00Z");
const DAY_MS = 86_400_000;

/** An entry of the native format. */
export interface BenchEntry {
  readonly ts: string;
  readonly level: string;
  readonly service: string;
  readonly host: string;
  readonly message: string;
  readonly attrs: {
    readonly component: string;
    readonly trace_id: string;
    readonly user_id: string;
    readonly status: number;
    readonly duration_ms: number;
  };
}

/** One entry of about 310 bytes with ten fields, made from a line of a real log where those are present. */
function entryOf(row: number, total: number, template: LineTemplate, random: Random): BenchEntry {
  return {
    ts: new Date(LAST_MS - DAY_MS + Math.floor((row / total) * DAY_MS)).toISOString(),
    level: template.level,
    service: `${template.system}-${["api", "worker", "gateway"][random.below(3)]}`,
    host: `${template.system}-${random.below(12)}.prod`,
    message: messageOf(template.pieces, random),
    attrs: {
      component: template.component,
      trace_id: digitsOf(random.below(1_000_000_000), 32, true),
      user_id: `u${random.below(100_000)}`,
      status: random.below(20) === 0 ? 500 : 200,
      duration_ms: Math.round(random.unit() * 50_000) / 100,
    },
  };
}

function messageOf(pieces: readonly Piece[], random: Random): string {
  return pieces
    .map((piece) =>
      piece.kind === "text"
        ? piece.text
        : digitsOf(random.below(1_000_000_000), piece.length, piece.kind === "hex"),
    )
    .join("");
}

/** The entries of a benchmark run, the same on every machine that has the same lines. */
export function makeEntries(count: number): BenchEntry[] {
  const random = seededRandom(SEED);
  const real = readLineTemplates(LOGHUB);
  const templates = real.length > 0 ? real : synthesizeLineTemplates(random, 4000);
  return Array.from({ length: count }, (_, row) => {
    const template = templates[random.below(templates.length)];
    if (template === undefined) throw new Error("no line templates");
    return entryOf(row, count, template, random);
  });
}

/** The entries as request bodies of `batch` entries each. */
export function nativeBodies(entries: readonly object[], batch: number): Uint8Array[] {
  const encoder = new TextEncoder();
  const bodies: Uint8Array[] = [];
  for (let from = 0; from < entries.length; from += batch)
    bodies.push(encoder.encode(JSON.stringify(entries.slice(from, from + batch))));
  return bodies;
}

/** The same entries as JSON lines, `batch` lines each: what ClickHouse itself reads as JSONEachRow. */
export function jsonLineBodies(entries: readonly object[], batch: number): Uint8Array[] {
  const encoder = new TextEncoder();
  const bodies: Uint8Array[] = [];
  for (let from = 0; from < entries.length; from += batch)
    bodies.push(
      encoder.encode(
        entries
          .slice(from, from + batch)
          .map((entry) => JSON.stringify(entry))
          .join("\n"),
      ),
    );
  return bodies;
}

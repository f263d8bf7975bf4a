/**
 * Recognising the lines of eight systems: how many have the time, the level and the service that people say they have, and
 * lines a second on one core. Beside it lnav on the same files, where it is installed: its level `info` counts as none
 * where there is none, its service is the program of its syslog format.
 * Usage: bun bench/recognise.ts. Prints a table and appends a line to bench/results/recognise.jsonl.
 */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LineRecogniser } from "../ingest/recognise/index.ts";
import { levelOfText } from "../ingest/record/levels.ts";
import { readRawLines, SYSTEMS } from "./patterns/loghub.ts";
import { compare, labelsOf, type Score, scoreOf } from "./recognise/labelled.ts";

const ROUNDS = 40;
const lnav = Bun.which("lnav");

/** The fastest of several rounds counts, as others use the machine too. */
function linesPerSecond(system: string): number {
  const bytes = readRawLines(system);
  let best = Number.POSITIVE_INFINITY;
  let lines = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const recogniser = new LineRecogniser({ yearReferenceMs: Date.UTC(2020, 0) });
    lines = 0;
    const startMs = performance.now();
    recogniser.push(bytes, () => lines++);
    recogniser.end(() => lines++);
    best = Math.min(best, performance.now() - startMs);
  }
  return Math.round((lines / best) * 1000);
}

function lnavScore(program: string, system: string): Score {
  const labels = labelsOf(system);
  const directory = mkdtempSync(join(tmpdir(), "recognise-"));
  try {
    const file = join(directory, "lines.log");
    writeFileSync(file, readRawLines(system));
    const rows = lnavRows(program, file, "SELECT log_line, log_actual_time, log_level FROM all_logs");
    const programs = lnavRows(program, file, "SELECT log_line, log_procname FROM syslog_log");
    const services = new Map(programs.map(([line, name]) => [Number(line), name]));
    const said = labels.map((label, i) => {
      const row = rows.get(i);
      if (row === undefined) return undefined;
      const [, time = "", word = ""] = row;
      const level = levelOfText(word);
      return {
        // As it was written: it moves what is out of order. It gives times without a year the one in which they are read.
        time: label.time.slice(0, 4) + time.slice(4).replace(" ", "T"),
        level: level === "info" && label.level === null ? null : level,
        service: services.get(i) ?? null,
      };
    });
    return compare(labels, said);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function lnavRows(program: string, file: string, query: string): RowsByLine {
  const { stdout } = Bun.spawnSync([program, "-n", "-c", `;${query}`, "-c", ":write-csv-to -", file], {
    stderr: "ignore",
  });
  const [, ...rows] = stdout.toString().split("\n");
  return new RowsByLine(rows.flatMap((row) => (/^\d/.test(row) ? [row.split(",")] : [])));
}

/** Rows of CSV whose first column is the number of a line. */
class RowsByLine {
  readonly #rows: ReadonlyMap<number, readonly string[]>;

  constructor(rows: readonly (readonly string[])[]) {
    this.#rows = new Map(rows.map((row) => [Number(row[0]), row]));
  }

  get(line: number): readonly string[] | undefined {
    return this.#rows.get(line);
  }

  map<T>(make: (row: readonly string[]) => T): T[] {
    return [...this.#rows.values()].map(make);
  }
}

function percent(count: number, { lines }: Score): string {
  return `${((count / lines) * 100).toFixed(1)} %`;
}

const results = SYSTEMS.map((system) => {
  const score = scoreOf(system);
  const other = lnav === null ? null : lnavScore(lnav, system);
  return {
    system,
    lines: score.lines,
    time: percent(score.time, score),
    level: percent(score.level, score),
    service: percent(score.service, score),
    lnavTime: other === null ? "" : percent(other.time, other),
    lnavLevel: other === null ? "" : percent(other.level, other),
    lnavService: other === null ? "" : percent(other.service, other),
    linesPerSecond: linesPerSecond(system),
  };
});
process.stdout.write(`${Bun.inspect.table(results)}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/recognise.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), results })}\n`,
);

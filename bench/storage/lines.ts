import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "./random.ts";

/** A log line cut into fixed text and number-like holes that get fresh values on every replay. */
export interface LineTemplate {
  readonly system: string;
  readonly level: string;
  readonly component: string;
  readonly pieces: readonly Piece[];
}

export type Piece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "number" | "identifier" | "hex"; readonly length: number };

const levelWords: ReadonlyMap<string, string> = new Map([
  ["fatal", "fatal"],
  ["error", "error"],
  ["failed", "error"],
  ["failure", "warn"],
  ["warn", "warn"],
  ["warning", "warn"],
  ["debug", "debug"],
  ["d", "debug"],
  ["v", "trace"],
  ["w", "warn"],
  ["e", "error"],
]);

/** Runs of digits or hex letters; what stays literal (1-2 digits) is the shape of clocks and counters. */
const holes = /[0-9a-f]{8,}|\d{3,}/g;

function lineTemplate(system: string, line: string): LineTemplate {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of line.matchAll(holes)) {
    if (match.index > end) pieces.push({ kind: "text", text: line.slice(end, match.index) });
    pieces.push(hole(match[0]));
    end = match.index + match[0].length;
  }
  if (end < line.length) pieces.push({ kind: "text", text: line.slice(end) });
  return { system, level: levelOf(line), component: componentOf(line), pieces };
}

function hole(run: string): Piece {
  if (/[a-f]/.test(run) && /\d/.test(run)) return { kind: "hex", length: run.length };
  if (/^\d+$/.test(run)) return { kind: run.length >= 6 ? "identifier" : "number", length: run.length };
  return { kind: "text", text: run };
}

function levelOf(line: string): string {
  for (const word of line
    .slice(0, 120)
    .toLowerCase()
    .split(/[^a-z]+/)) {
    const level = levelWords.get(word);
    if (level !== undefined) return level;
  }
  return "info";
}

function componentOf(line: string): string {
  return /[A-Za-z][A-Za-z_]*(?:[.$][A-Za-z_]+)+|[A-Za-z_]{4,}/.exec(line)?.[0] ?? "main";
}

/** The lines of every system under `directory` (one folder per system), or none when it is absent. */
export function readLineTemplates(directory: string): LineTemplate[] {
  const templates: LineTemplate[] = [];
  for (const system of systemFolders(directory)) {
    for (const name of readdirSync(join(directory, system)).filter((file) => file.endsWith(".log"))) {
      const text = readFileSync(join(directory, system, name), "utf8");
      for (const line of text.split(/\r?\n/)) {
        if (line !== "") templates.push(lineTemplate(system.toLowerCase(), line));
      }
    }
  }
  return templates;
}

function systemFolders(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

const shapes = [
  "2026-01-10 12:00:01,482 INFO  [%w] com.example.%w.Worker: Received block blk_4838294857 of size 67108864 from /10.251.42.84",
  "Jan 10 12:00:02 host%n sshd[24200]: Failed password for invalid user %w from 173.234.31.186 port 38926 ssh2",
  '[req-38101a0b-2096-447d-96ea-a692162415ae] 10.11.10.1 "GET /v2/54fadb412c4e40cdbaed9335e4c35a9e/%w HTTP/1.1" status: 200 len: 1893 time: 0.2477829',
  "[error] [client 218.145.25.12] %w child %w in error state 6",
  '01-10 12:00:03.381  1702  2395 D %wManager: acquire lock=233570404, flags=0x1, tag="%w", uid=10037, pid=2227',
  "2026-01-10 12:00:04,747 - WARN  [SendWorker:188978561024:QuorumCnxManager@679] - Interrupted while waiting for %w on queue",
];

/** Lines of the same shapes as real servers write, for machines without the data set. */
export function synthesizeLineTemplates(random: Random, count: number): LineTemplate[] {
  const words = Array.from({ length: 400 }, () => word(random));
  return Array.from({ length: count }, (_, index) => {
    const shape = shapes[index % shapes.length] ?? "";
    const line = shape
      .replace(/%w/g, () => words[random.below(words.length)] ?? "")
      .replace(/%n/g, () => String(random.below(90) + 10));
    return lineTemplate(`system${index % shapes.length}`, line);
  });
}

function word(random: Random): string {
  const syllables = ["ra", "ton", "mi", "ker", "sol", "va", "plex", "dor", "ni", "que"];
  return Array.from({ length: 2 + random.below(3) }, () => syllables[random.below(syllables.length)]).join(
    "",
  );
}

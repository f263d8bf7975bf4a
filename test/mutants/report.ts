import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./checkout.ts";
import type { Verdict } from "./judge.ts";
import { AREAS } from "./list.ts";
import type { Mutant } from "./mutant.ts";
import { FAILURES_MAX_COUNT } from "./test-run.ts";

/** A mutant that was judged. */
export interface Judged {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
}

const DOCUMENT = join(ROOT, "docs/mutants.md");
const ROW = /^\| (.+) \| `.+` \| (.+) \|$/gm;
const SURVIVED = "SURVIVED";
const NOT_RUN = "not run yet";

/** What is said of a verdict in a table. */
function wordsOf(verdict: Verdict): string {
  switch (verdict.kind) {
    case "noticed":
      return noticedBy(verdict.run.failures.length);
    case "survived":
      return SURVIVED;
    case "stale":
      return "STALE: its text is not in the file, or not once";
    case "broken":
      return "BROKEN: with it the file is no code";
    case "untested":
      return "UNTESTED: its tests fail without it";
  }
}

function noticedBy(failures: number): string {
  if (failures === 0) return "all: they cannot be run";
  return failures >= FAILURES_MAX_COUNT ? `${FAILURES_MAX_COUNT} or more` : String(failures);
}

/** One line on the terminal. */
export function lineOf({ mutant, verdict }: Judged): string {
  const seconds = "run" in verdict ? verdict.run.seconds.toFixed(1) : "";
  return `${wordsOf(verdict).padEnd(12)} ${seconds.padStart(6)} s  ${mutant.name}  (${mutant.file})\n`;
}

/** Keeps results; those of mutants that were not judged this time stay. */
export function writeDocument(judged: readonly Judged[]): void {
  const results = keptResults();
  for (const { mutant, verdict } of judged) results.set(mutant.name, wordsOf(verdict));
  writeFileSync(DOCUMENT, documentOf(results));
}

/** Whether nothing is kept of a mutant yet. */
export function isNew({ name }: Mutant): boolean {
  return (keptResults().get(name) ?? NOT_RUN) === NOT_RUN;
}

/** What the document says of each mutant, by its name. */
function keptResults(): Map<string, string> {
  const text = existsSync(DOCUMENT) ? readFileSync(DOCUMENT, "utf8") : "";
  return new Map([...text.matchAll(ROW)].map(([, name = "", words = ""]) => [name, words]));
}

function documentOf(results: ReadonlyMap<string, string>): string {
  const names = Object.values(AREAS).flatMap((mutants) => mutants.map(({ name }) => name));
  const noticed = names.filter((name) => /^(\d|all)/.test(results.get(name) ?? "")).length;
  return `# Faults that the tests notice

Made by \`bun run mutants --write\`: it puts one small fault at a time into a copy of the code, where it would leak, lose or
double something, and runs the tests that are to notice it. The faults are kept in \`test/mutants/lists\`. Of
${names.length} faults ${noticed} are noticed; the last column says by how many tests.

${Object.entries(AREAS)
  .map(([area, mutants]) => tableOf(area, mutants, results))
  .join("\n\n")}
`;
}

function tableOf(area: string, mutants: readonly Mutant[], results: ReadonlyMap<string, string>): string {
  const rows = mutants.map(({ name, file }) => `| ${name} | \`${file}\` | ${results.get(name) ?? NOT_RUN} |`);
  return [`## ${area}`, "", "| fault | file | tests |", "|---|---|---|", ...rows].join("\n");
}

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./checkout.ts";
import type { Verdict } from "./judge.ts";
import type { Mutant } from "./mutant.ts";
import { FAILURES_MAX_COUNT } from "./test-run.ts";

/** A mutant that was judged. */
export interface Judged {
  readonly area: string;
  readonly mutant: Mutant;
  readonly verdict: Verdict;
}

const DOCUMENT = "docs/mutants.md";

/** What is said of a verdict in a table. */
export function wordsOf(verdict: Verdict): string {
  switch (verdict.kind) {
    case "noticed":
      return noticedBy(verdict.run.failures.length);
    case "survived":
      return "SURVIVED";
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

/** Keeps the result of a whole run. */
export function writeDocument(judged: readonly Judged[]): void {
  writeFileSync(join(ROOT, DOCUMENT), documentOf(judged));
}

function documentOf(judged: readonly Judged[]): string {
  const areas = [...new Set(judged.map(({ area }) => area))];
  const noticed = judged.filter(({ verdict }) => verdict.kind === "noticed").length;
  return `# Faults that the tests notice

Made by \`bun run mutants --write\`: it puts one small fault at a time into a copy of the code, where it would leak, lose or
double something, and runs the tests that are to notice it. The faults are kept in \`test/mutants/lists\`. Of
${judged.length} faults ${noticed} are noticed; the last column says by how many tests.

${areas.map((area) => tableOf(area, judged)).join("\n\n")}
`;
}

function tableOf(area: string, judged: readonly Judged[]): string {
  const rows = judged
    .filter((one) => one.area === area)
    .map(({ mutant, verdict }) => `| ${mutant.name} | \`${mutant.file}\` | ${wordsOf(verdict)} |`);
  return [`## ${area}`, "", "| fault | file | tests |", "|---|---|---|", ...rows].join("\n");
}

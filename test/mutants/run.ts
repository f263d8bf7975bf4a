/** `bun run mutants`: puts faults into a copy of the code, one at a time, and fails when the tests notice one not. */
import { parseArgs } from "node:util";
import { Checkout } from "./checkout.ts";
import { faultyFile, judge } from "./judge.ts";
import { AREAS } from "./list.ts";
import type { Mutant } from "./mutant.ts";
import { isNew, type Judged, lineOf, writeDocument } from "./report.ts";
import { runTests } from "./test-run.ts";

const USAGE = `bun run mutants [options]
  --only WORD   mutants whose area, name or file holds the word
  --new         those of which docs/mutants.md has no result yet
  --list        names them, and which are stale, and runs nothing
  --write       keeps the result in docs/mutants.md
  --jobs N      so many at a time; the default is 1
  --quick       without a look at whether the tests pass without a fault
`;

interface Candidate {
  readonly area: string;
  readonly mutant: Mutant;
}

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    new: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    jobs: { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  },
});

function say(text: string): void {
  process.stdout.write(text);
}

function candidates(): Candidate[] {
  const word = options.only?.toLowerCase() ?? "";
  return Object.entries(AREAS)
    .flatMap(([area, mutants]) => mutants.map((mutant) => ({ area, mutant })))
    .filter(({ area, mutant }) => `${area} ${mutant.name} ${mutant.file}`.toLowerCase().includes(word))
    .filter(({ mutant }) => !options.new || isNew(mutant));
}

/** Says which there are; the number of those that cannot be applied. */
function list(chosen: readonly Candidate[]): number {
  let wrong = 0;
  for (const { area, mutant } of chosen) {
    const found = faultyFile(mutant);
    const state = typeof found === "string" ? "" : found.kind;
    if (state !== "") wrong++;
    say(`${area.padEnd(9)} ${state.padEnd(7)} ${mutant.name}  (${mutant.file})\n`);
  }
  say(`\n${chosen.length} mutants, ${wrong} of them cannot be applied\n`);
  return wrong;
}

/** Does the work of each item in one of several copies of the checkout, in the order of the items. */
async function inCheckouts<T>(items: readonly T[], work: (item: T, checkout: Checkout) => Promise<void>) {
  let next = 0;
  const jobs = Array.from({ length: Math.max(1, Number(options.jobs)) }, async () => {
    using checkout = new Checkout();
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item, checkout);
  });
  await Promise.all(jobs);
}

/** Those of the tests that fail although nothing is wrong. */
async function failingTests(chosen: readonly Candidate[]): Promise<ReadonlySet<string>> {
  const failing = new Set<string>();
  const paths = [...new Set(chosen.flatMap(({ mutant }) => mutant.tests))];
  await inCheckouts(paths, async (path, checkout) => {
    const { failures, problem } = await runTests(checkout.path, [path]);
    if (failures.length === 0 && problem === null) return;
    failing.add(path);
    say(`FAILS WITHOUT A FAULT: ${path}: ${problem ?? failures.join("; ")}\n`);
  });
  return failing;
}

async function judgeAll(chosen: readonly Candidate[], failing: ReadonlySet<string>): Promise<Judged[]> {
  const judged: Judged[] = [];
  await inCheckouts(chosen, async ({ mutant }, checkout) => {
    const one = { mutant, verdict: await judge(mutant, checkout, failing) };
    judged.push(one);
    say(lineOf(one));
    if (options.write) writeDocument([one]);
  });
  return chosen.flatMap(({ mutant }) => judged.filter((one) => one.mutant === mutant));
}

async function main(): Promise<number> {
  if (options.help) {
    say(USAGE);
    return 0;
  }
  const chosen = candidates();
  if (options.list) return list(chosen) === 0 ? 0 : 1;
  const failing = options.quick ? new Set<string>() : await failingTests(chosen);
  const judged = await judgeAll(chosen, failing);
  const noticed = judged.filter(({ verdict }) => verdict.kind === "noticed").length;
  say(`\n${noticed} of ${judged.length} faults were noticed\n`);
  return noticed === judged.length && failing.size === 0 ? 0 : 1;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main();

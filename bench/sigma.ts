/**
 * Rules of Sigma and errors in groups, on one core and without a server: of a corpus of the shapes of public rules the share that is
 * taken over, and rules a second beside reading the same YAML alone; then microseconds for the group of an error beside plainly
 * hashing its text.
 * Usage: bun bench/sigma.ts [documents] [rounds]. Prints tables and appends a line to bench/results/sigma.jsonl.
 */
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { groupError } from "../src/domains/log-errors/grouping/group-error.ts";
import { convertSigma } from "../src/rules/sigma/convert.ts";
import { TRACES, VARIANTS } from "../test/domains/log-errors/grouping/traces.ts";
import { outcomeOf, sigmaCorpus } from "../test/rules/sigma/sigma-corpus.ts";
import { median } from "./patterns/median.ts";

const documents = Number(process.argv[2] ?? 4_000);
const rounds = Number(process.argv[3] ?? 5);
const SEED = 20_260_301;
/** Documents of one text, as many as an import may have. */
const TOGETHER = 500;
/** Times that each error is grouped in a round. */
const REPEATED = 100;
const SHOWN_MAX = 20;

const corpus = sigmaCorpus(documents, SEED).map(({ yaml }) => yaml);
const texts: string[] = [];
for (let from = 0; from < corpus.length; from += TOGETHER)
  texts.push(corpus.slice(from, from + TOGETHER).join("---\n"));

const refused = new Map<string, number>();
let taken = 0;
for (const text of texts)
  for (const outcome of (await convertSigma(text)).map(outcomeOf)) {
    if (outcome === "taken") taken++;
    else refused.set(shapeOf(outcome), (refused.get(shapeOf(outcome)) ?? 0) + 1);
  }

const converting: number[] = [];
const reading: number[] = [];
for (let round = -1; round < rounds; round++) {
  const converted = await cpuSeconds(async () => {
    for (const text of texts) await convertSigma(text);
  });
  const read = await cpuSeconds(() => {
    for (const text of texts) parseAllDocuments(text).map((document) => document.toJS());
  });
  if (round < 0) continue;
  converting.push(corpus.length / converted);
  reading.push(corpus.length / read);
}
const sigma = {
  documents: corpus.length,
  takenPercent: Number(((100 * taken) / corpus.length).toFixed(2)),
  rulesPerCpuSecond: Math.round(median(converting)),
  readingYamlAlone: Math.round(median(reading)),
  ofReference: Number((median(converting) / median(reading)).toFixed(2)),
};

const errors = Object.entries(TRACES).map(([runtime, trace]) => {
  const entries = VARIANTS.map((variant) => ({
    ...{ service: "checkout", level: "error", message: "request failed" },
    attrs: { "exception.stacktrace": trace(variant) },
  }));
  const grouping: number[] = [];
  const hashing: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const grouped = cpuMicros(() => {
      for (const entry of entries) groupError(entry);
    });
    const hashed = cpuMicros(() => {
      for (const { attrs } of entries)
        createHash("sha256").update(attrs["exception.stacktrace"]).digest("hex");
    });
    if (round < 0) continue;
    grouping.push(grouped / entries.length);
    hashing.push(hashed / entries.length);
  }
  const characters = entries.reduce((sum, { attrs }) => sum + attrs["exception.stacktrace"].length, 0);
  return {
    runtime,
    characters: Math.round(characters / entries.length),
    microsecondsAnEvent: Number(median(grouping).toFixed(1)),
    hashingTheText: Number(median(hashing).toFixed(1)),
  };
});

const told = [...refused].toSorted(([, left], [, right]) => right - left).slice(0, SHOWN_MAX);
process.stdout.write(
  `${Bun.inspect.table([sigma])}\n${Bun.inspect.table(told)}\n${Bun.inspect.table(errors)}\n`,
);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/sigma.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), sigma, refused: Object.fromEntries(told), errors })}\n`,
);

/** What is refused, without its numbers. */
function shapeOf(outcome: string): string {
  return outcome.replace(/\d+/g, "n");
}

async function cpuSeconds(work: () => void | Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** CPU time of one of many repetitions. */
function cpuMicros(work: () => void): number {
  const before = process.cpuUsage();
  for (let i = 0; i < REPEATED; i++) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / REPEATED;
}

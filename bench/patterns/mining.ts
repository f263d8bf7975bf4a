import { PatternMiner } from "../../src/mining/miner.ts";
import { measureAccuracy, minePatterns } from "./accuracy.ts";
import { hasLoghub, readLabelledLines, SYSTEMS } from "./loghub.ts";
import { CLASS_SYSTEMS, HELD_SYSTEMS } from "./made-classes.ts";
import { SEEN_SYSTEMS, UNSEEN_SYSTEMS, writeLines } from "./made-systems.ts";
import { median } from "./median.ts";

/** The 2 000 lines of a system are mined so many times over by one miner: what its forms cost is part of the time. */
const REPETITIONS = 50;

interface MiningReport {
  readonly systems: Record<
    string,
    { ga: number; fga: number; groups: number; events: number; linesPerSec: number }
  >;
  /** Means of the systems, and the throughput of all their lines in one miner. */
  readonly all: { readonly ga: number; readonly fga: number; readonly linesPerSec: number };
}

/** How well and how fast lines are mined, with the one configuration there is; empty without the labelled lines. */
export function measureMining(rounds: number): MiningReport {
  const labelled = hasLoghub() ? SYSTEMS.map((system) => ({ system, lines: readLabelledLines(system) })) : [];
  const systems: MiningReport["systems"] = {};
  for (const { system, lines } of labelled) {
    const contents = lines.map(({ content }) => content);
    const { ga, fga, made, events } = measureAccuracy(minePatterns(contents), lines);
    systems[system] = {
      ga: round(ga),
      fga: round(fga),
      groups: made,
      events,
      linesPerSec: linesPerSec(contents, rounds),
    };
  }
  const measured = Object.values(systems);
  return {
    systems,
    all: {
      ga: round(mean(measured.map(({ ga }) => ga))),
      fga: round(mean(measured.map(({ fga }) => fga))),
      linesPerSec: linesPerSec(
        labelled.flatMap(({ lines }) => lines.map(({ content }) => content)),
        rounds,
      ),
    },
  };
}

/** How well lines of systems that there are not are mined; `seen` says whether rules were written with them in view. */
export function measureMadeSystems(): Record<string, { seen: boolean; ga: number; fga: number }> {
  const report: Record<string, { seen: boolean; ga: number; fga: number }> = {};
  for (const [seen, systems] of [
    [true, { ...SEEN_SYSTEMS, ...CLASS_SYSTEMS }],
    [false, { ...UNSEEN_SYSTEMS, ...HELD_SYSTEMS }],
  ] as const) {
    for (const [system, events] of Object.entries(systems)) {
      const lines = writeLines(events);
      const { ga, fga } = measureAccuracy(minePatterns(lines.map(({ content }) => content)), lines);
      report[system] = { seen, ga: round(ga), fga: round(fga) };
    }
  }
  return report;
}

function linesPerSec(contents: readonly string[], rounds: number): number {
  const speeds = Array.from({ length: rounds + 1 }, () => {
    const startMs = performance.now();
    const miner = new PatternMiner();
    for (let repetition = 0; repetition < REPETITIONS; repetition++)
      for (const content of contents) miner.add(content);
    miner.patterns();
    return (contents.length * REPETITIONS) / ((performance.now() - startMs) / 1000);
  });
  return Math.round(median(speeds.slice(1)));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

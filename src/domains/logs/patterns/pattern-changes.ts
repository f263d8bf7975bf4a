import type { QueryBudget } from "../../../../query/index.ts";
import type { LogRanges } from "../../../archive/reading/log-ranges.ts";
import type { QueryCaller } from "../../../storage/query-runner.ts";
import { CHANGES_MAX_COUNT, PIECE_MIN_CHARS, PIECES_MAX_COUNT } from "./limits.ts";
import { PatternReader } from "./store.ts";
import { type TalliedPattern, tallyPatterns } from "./tally.ts";
import type { PatternWindow } from "./window.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** A time, and a time of another length right before it. Milliseconds since 1970. */
interface ComparedTimes {
  readonly beforeMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A pattern of which there is more or less than before. */
interface PatternChange {
  readonly pattern: string;
  readonly kind: "new" | "more" | "less" | "gone";
  readonly count: number;
  readonly previousCount: number;
  /** As many as there would be if nothing had changed. */
  readonly expected: number;
  readonly levels: readonly string[];
  readonly services: readonly string[];
  readonly sample: string;
  /** KQL that finds the entries, and perhaps some others that have the same words in them. */
  readonly query: string;
}

interface PatternChangeDependencies {
  readonly ranges: LogRanges;
  readonly budget: QueryBudget;
}

/**
 * What the logs say differently than before: the patterns whose number is the least likely to be by chance, at most ten.
 * Throws what `LogRanges.read` throws.
 */
export async function readPatternChanges(
  { ranges, budget }: PatternChangeDependencies,
  caller: QueryCaller,
  { beforeMs, fromMs, toMs }: ComparedTimes,
): Promise<PatternChange[]> {
  const [previousFrom, from, to] = [beforeMs, fromMs, toMs].map((ms) => BigInt(ms) * NANOS_PER_MILLI);
  if (previousFrom === undefined || from === undefined || to === undefined) return [];
  const window: PatternWindow = { previousFrom, from, to, bucketNs: to - from + 1n };
  const filter = { search: null, service: null, level: null, query: null };
  const { value: groups } = await ranges.read(caller, (logs) =>
    new PatternReader({ logs, budget }).readGroups({ filter, window }),
  );
  const ratio = (toMs - fromMs) / Math.max(1, fromMs - beforeMs);
  return tallyPatterns(groups)
    .filter(({ isOther }) => !isOther)
    .map((pattern) => ({ pattern, surprise: surpriseOf(pattern, ratio) }))
    .filter(({ surprise }) => surprise >= SURPRISE_MIN)
    .sort((a, b) => b.surprise - a.surprise || (a.pattern.pattern < b.pattern.pattern ? -1 : 1))
    .slice(0, CHANGES_MAX_COUNT)
    .map(({ pattern }) => describe(pattern, ratio));
}

/** Half of the logarithm's distance that chance reaches once in some thousand patterns. */
const SURPRISE_MIN = 5;

/** How unlikely a number is where another one was expected: the log-likelihood ratio of two Poisson rates. */
function surpriseOf({ current, previous }: TalliedPattern, ratio: number): number {
  const count = current?.count ?? 0;
  const before = previous?.count ?? 0;
  const rate = (count + before) / (1 + ratio);
  const part = (seen: number, expected: number): number =>
    seen === 0 ? 0 : seen * Math.log(seen / expected);
  return part(count, rate * ratio) + part(before, rate);
}

function describe({ pattern, current, previous }: TalliedPattern, ratio: number): PatternChange {
  const shown = current ?? previous;
  const [count, previousCount] = [current?.count ?? 0, previous?.count ?? 0];
  const expected = Math.round(previousCount * ratio * 10) / 10;
  const grows = count > expected ? "more" : "less";
  const ends = count === 0 ? "gone" : grows;
  const names = (counts: ReadonlyMap<string, number> | undefined): string[] =>
    [...(counts ?? [])]
      .sort(([, a], [, b]) => b - a)
      .map(([name]) => name)
      .filter((name) => name !== "");
  const samples = [...(shown?.samples ?? [])].sort();
  return {
    pattern,
    kind: previousCount === 0 ? "new" : ends,
    count,
    previousCount,
    expected,
    levels: names(shown?.levels),
    services: names(shown?.services).slice(0, SERVICES_SHOWN_MAX),
    sample: (samples[0] ?? "").slice(0, SAMPLE_MAX_CHARS),
    query: queryOf(pattern, samples),
  };
}

const SERVICES_SHOWN_MAX = 5;
const SAMPLE_MAX_CHARS = 300;

/** The longest of the words that all messages of the pattern share. */
function queryOf(pattern: string, samples: readonly string[]): string {
  const pieces = pattern
    .split("<*>")
    .map((piece) => piece.trim())
    .filter((piece) => piece.length >= PIECE_MIN_CHARS && !/\p{Cc}/u.test(piece))
    .filter((piece) => samples.every((sample) => sample.includes(piece)))
    .sort((a, b) => b.length - a.length)
    .slice(0, PIECES_MAX_COUNT);
  const conditions = pieces.map((piece) => `message contains_cs ${JSON.stringify(piece)}`);
  return ["logs", ...(conditions.length === 0 ? [] : [`where ${conditions.join(" and ")}`])].join(" | ");
}

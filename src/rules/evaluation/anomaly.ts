import { BucketSums, joinedSpans, type TimeSpan } from "./bucket-sums.ts";
import type { Stretch } from "./stretches.ts";

/** What is unusual of the counts of a series of windows side by side, each beginning at a multiple of its length. */
export interface Anomaly {
  readonly windowMs: number;
  readonly baselineMs: number;
  /** So many times what is expected, or for a drop so small a part of it. */
  readonly ratioThreshold: number;
  /** With fewer entries in its baseline a window is not judged. */
  readonly minBaselineEvents: number;
  readonly direction: "spike" | "drop" | "both";
}

/** What is known of a series. */
export interface Series {
  /** The entries of windows by their start; of a window that is not in it there is none. */
  readonly counts: ReadonlyMap<number, number>;
  /** Since when entries are counted: windows that begin earlier are no baseline. */
  readonly sinceMs: number;
  /** The window that a rule was made in, where all that it holds is from before the rule: so many are no spike of the rule's. */
  readonly oldMs?: number | null;
}

/** A window and what was to be expected of it. */
export interface Verdict {
  readonly startMs: number;
  readonly value: number;
  readonly expected: number;
  /** What lies within is usual. */
  readonly low: number;
  readonly high: number;
  readonly kind: "usual" | "spike" | "drop" | "learning";
  /** Which windows told what to expect. */
  readonly phase: Phase;
}

/** Windows that are compared: those at the same hour of the week or one beside it, at the same hour of the day, or all. UTC. */
export type Phase = "hour of the week" | "hour of the day" | "any";

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const WEEK_HOURS = 7 * DAY_HOURS;
/** Makes of the median deviation of normally distributed values their standard deviation. */
const MAD_TO_DEVIATION = 1.4826;
const DEVIATIONS = 4;

/**
 * Judges the windows that begin in the span, in their order: what is found unusual is no baseline of what follows, and neither
 * is what `isLeftOut` says, which are the windows of recorded episodes. A window is complete at its end; who calls judges
 * none before.
 */
export function judgeWindows(
  rule: Anomaly,
  series: Series,
  { fromMs, toMs }: TimeSpan,
  isLeftOut: (startMs: number) => boolean,
): Verdict[] {
  const { windowMs } = rule;
  const verdicts: Verdict[] = [];
  const baseline = new Baseline(rule, series, isLeftOut);
  for (const startMs of windowsIn({ fromMs, toMs }, windowMs)) {
    const isOld = startMs === series.oldMs;
    const verdict = judge(rule, { startMs, value: series.counts.get(startMs) ?? 0, isOld }, baseline);
    verdicts.push(verdict);
    if (verdict.kind === "spike" || verdict.kind === "drop") baseline.leaveOut(startMs);
  }
  return verdicts;
}

/** The unusual windows as stretches from their start to their end; the peak is how far a count was from what was expected. */
export function unusualStretches({ windowMs }: Anomaly, verdicts: readonly Verdict[]): Stretch[] {
  return verdicts
    .filter(({ kind }) => kind === "spike" || kind === "drop")
    .map(({ startMs, value, expected }) => {
      const endMs = startMs + windowMs;
      return { fromMs: startMs, toMs: endMs, untilMs: endMs, peak: Math.abs(value - expected) };
    });
}

function judge(
  rule: Anomaly,
  { startMs, value, isOld }: { readonly startMs: number; readonly value: number; readonly isOld: boolean },
  baseline: Baseline,
): Verdict {
  const { baselineMs, ratioThreshold, minBaselineEvents, direction } = rule;
  const { values, events } = baseline.before(startMs);
  const expected = median(values);
  const atLeast = Math.max(expected, 1);
  const deviation = median(values.map((each) => Math.abs(each - expected)));
  const scale = Math.max(MAD_TO_DEVIATION * deviation, Math.sqrt(atLeast));
  const isSpike = value > ratioThreshold * atLeast && (value - expected) / scale >= DEVIATIONS;
  const isDrop = value * ratioThreshold < atLeast && (expected - value) / scale >= DEVIATIONS;
  let kind: Verdict["kind"] = "usual";
  if (values.length === 0 || events < minBaselineEvents) kind = "learning";
  else if (isSpike && direction !== "drop" && !isOld) kind = "spike";
  else if (isDrop && direction !== "spike") kind = "drop";
  return {
    startMs,
    value,
    expected,
    low: Math.max(0, Math.min(atLeast / ratioThreshold, expected - DEVIATIONS * scale)),
    high: Math.max(ratioThreshold * atLeast, expected + DEVIATIONS * scale),
    kind,
    phase: phaseOf(baselineMs),
  };
}

/** The windows that tell what to expect. */
class Baseline {
  readonly #rule: Anomaly;
  readonly #series: Series;
  readonly #isLeftOut: (startMs: number) => boolean;
  readonly #unusual = new Map<number, number>();
  /** The windows with entries that count. */
  readonly #sums: BucketSums;

  constructor(rule: Anomaly, series: Series, isLeftOut: (startMs: number) => boolean) {
    this.#rule = rule;
    this.#series = series;
    this.#isLeftOut = isLeftOut;
    const counting = [...series.counts].filter(([startMs]) => !isLeftOut(startMs));
    this.#sums = new BucketSums(counting.map(([startMs, n]) => ({ startMs, n })));
  }

  leaveOut(startMs: number): void {
    if (!this.#isLeftOut(startMs)) this.#unusual.set(startMs, this.#series.counts.get(startMs) ?? 0);
  }

  /** The counts of the windows that the one at `startMs` is compared with, and all entries of its baseline. */
  before(startMs: number): { readonly values: readonly number[]; readonly events: number } {
    const { baselineMs, windowMs } = this.#rule;
    const sinceMs = Math.max(startMs - baselineMs, this.#series.sinceMs);
    const values = comparableSpans(phaseOf(baselineMs), { fromMs: sinceMs, toMs: startMs })
      .flatMap((span) => windowsIn(span, windowMs))
      .filter((at) => !this.#unusual.has(at) && !this.#isLeftOut(at))
      .map((at) => this.#series.counts.get(at) ?? 0);
    let events = this.#sums.count(sinceMs, startMs);
    for (const [at, n] of this.#unusual) if (at >= sinceMs && at < startMs) events -= n;
    return { values, events };
  }
}

/** The starts of the windows that begin in the span. */
function windowsIn({ fromMs, toMs }: TimeSpan, windowMs: number): number[] {
  const first = Math.ceil(fromMs / windowMs);
  return Array.from(
    { length: Math.max(0, Math.ceil(toMs / windowMs) - first) },
    (_, i) => (first + i) * windowMs,
  );
}

/** By how many days and weeks a baseline reaches back. */
function phaseOf(baselineMs: number): Phase {
  if (baselineMs >= 2 * WEEK_HOURS * HOUR_MS) return "hour of the week";
  return baselineMs >= 3 * DAY_HOURS * HOUR_MS ? "hour of the day" : "any";
}

/** Where in the span before a window those begin that are compared with it. */
function comparableSpans(phase: Phase, { fromMs, toMs }: TimeSpan): TimeSpan[] {
  if (phase === "any") return [{ fromMs, toMs }];
  const hourMs = Math.floor(toMs / HOUR_MS) * HOUR_MS;
  const [everyMs, besideMs] =
    phase === "hour of the day" ? [DAY_HOURS * HOUR_MS, 0] : [WEEK_HOURS * HOUR_MS, HOUR_MS];
  const spans: TimeSpan[] = [];
  for (let at = hourMs; at + HOUR_MS + besideMs > fromMs; at -= everyMs) {
    const span = {
      fromMs: Math.max(fromMs, at - besideMs),
      toMs: Math.min(toMs, at + HOUR_MS + besideMs),
    };
    if (span.fromMs < span.toMs) spans.push(span);
  }
  return joinedSpans(spans);
}

/** Of nothing it is 0. */
function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >>> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

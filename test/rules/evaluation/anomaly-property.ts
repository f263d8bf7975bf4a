/** The property that the test of anomalies samples and its proof repeats at length: the definition, window by window. */
import { expect } from "bun:test";
import fc from "fast-check";
import { type Anomaly, judgeWindows } from "../../../src/rules/evaluation/anomaly.ts";

export const HOUR_MS = 3_600_000;

const anomaly: fc.Arbitrary<Anomaly> = fc.record({
  windowMs: fc.constantFrom(1800, 3600, 5400, 7200, 86_400).map((seconds) => seconds * 1000),
  baselineMs: fc.constantFrom(1, 24, 71, 72, 168, 335, 336, 504, 720).map((hours) => hours * HOUR_MS),
  ratioThreshold: fc.constantFrom(1.1, 2, 3, 10),
  minBaselineEvents: fc.constantFrom(1, 50, 200),
  direction: fc.constantFrom("spike", "drop", "both"),
});

/** Counts of windows that repeat with the hours, with outliers and gaps. */
const shape = fc.record({
  daily: fc.array(fc.nat(60), { minLength: 24, maxLength: 24 }),
  noise: fc.array(fc.constantFrom(0, 0, 0, 1, 2, 5), { minLength: 1, maxLength: 40 }),
  outliers: fc.array(fc.tuple(fc.nat(2000), fc.constantFrom(0, 100, 300, 1000)), { maxLength: 8 }),
  hours: fc.oneof(fc.nat(100), fc.nat(800)),
  leftOut: fc.array(fc.nat(2000), { maxLength: 5 }),
  firstHour: fc.nat(400),
});

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const half = Math.floor(sorted.length / 2);
  if (sorted.length === 0) return 0;
  return sorted.length % 2 === 1 ? (sorted[half] ?? 0) : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
}

function isSamePhase(baselineMs: number, one: number, other: number): boolean {
  const [a, b] = [new Date(one), new Date(other)];
  if (baselineMs < 72 * HOUR_MS) return true;
  if (baselineMs < 336 * HOUR_MS) return a.getUTCHours() === b.getUTCHours();
  const hourOfWeek = (date: Date): number => date.getUTCDay() * 24 + date.getUTCHours();
  const apart = Math.abs(hourOfWeek(a) - hourOfWeek(b));
  return apart <= 1 || apart === 167;
}

export const judgesAsDefined = fc.property(
  anomaly,
  shape,
  (rule, { daily, noise, outliers, hours, leftOut, firstHour }) => {
    const { windowMs, baselineMs, ratioThreshold, minBaselineEvents, direction } = rule;
    const sinceMs = Math.ceil((firstHour * HOUR_MS) / windowMs) * windowMs;
    const starts = Array.from(
      { length: Math.ceil((hours * HOUR_MS) / windowMs) },
      (_, i) => sinceMs + i * windowMs,
    );
    const counts = new Map(
      starts.map((at, i) => {
        const outlier = outliers.find(([place]) => place % Math.max(1, starts.length) === i)?.[1];
        const hour = Math.floor(at / HOUR_MS) % 24;
        return [at, outlier ?? (daily[hour] ?? 0) + (noise[i % noise.length] ?? 0)] as const;
      }),
    );
    for (const [at, n] of counts) if (n === 0) counts.delete(at);
    const left = new Set(leftOut.map((i) => starts[i % Math.max(1, starts.length)]));
    const fromMs = starts.at(-60) ?? sinceMs;
    const toMs = sinceMs + starts.length * windowMs;
    const found = judgeWindows(rule, { counts, sinceMs }, { fromMs, toMs }, (at) => left.has(at));
    expect(found.map(({ startMs }) => startMs)).toEqual(starts.filter((at) => at >= fromMs));
    const unusual = new Set<number>();
    for (const { startMs, value, kind, expected, low, high } of found) {
      const baseline = starts.filter(
        (at) => at < startMs && at >= startMs - baselineMs && !unusual.has(at) && !left.has(at),
      );
      const same = baseline
        .filter((at) => isSamePhase(baselineMs, at, startMs))
        .map((at) => counts.get(at) ?? 0);
      const events = baseline.reduce((total, at) => total + (counts.get(at) ?? 0), 0);
      const usual = median(same);
      const scale = Math.max(
        1.4826 * median(same.map((n) => Math.abs(n - usual))),
        Math.sqrt(Math.max(usual, 1)),
      );
      const isSpike = value > ratioThreshold * Math.max(usual, 1) && (value - usual) / scale >= 4;
      const isDrop = value * ratioThreshold < Math.max(usual, 1) && (usual - value) / scale >= 4;
      const isLearning = same.length === 0 || events < minBaselineEvents;
      const judged =
        isSpike && direction !== "drop" ? "spike" : isDrop && direction !== "spike" ? "drop" : "usual";
      expect({ startMs, value, expected, kind }).toEqual({
        startMs,
        value: counts.get(startMs) ?? 0,
        expected: usual,
        kind: isLearning ? "learning" : judged,
      });
      if (kind === "spike" || kind === "drop") unusual.add(startMs);
      // The band says the same: what lies outside of it is unusual, and nothing else.
      const slack = 1e-9 * Math.max(1, value);
      if (kind === "spike") expect(value).toBeGreaterThanOrEqual(high - slack);
      if (kind === "drop") expect(value).toBeLessThanOrEqual(low + slack);
      if (kind === "usual" && direction === "both") {
        expect(value).toBeGreaterThanOrEqual(low - slack);
        expect(value).toBeLessThanOrEqual(high + slack);
      }
    }
  },
);

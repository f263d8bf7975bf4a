/** What is unusual of a series, against the definition, and how it is said. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Anomaly, judgeWindows, unusualStretches } from "../../../src/rules/evaluation/anomaly.ts";
import { explainWindow } from "../../../src/rules/evaluation/explain-window.ts";
import { joinedStretches } from "../../../src/rules/evaluation/stretches.ts";
import { HOUR_MS, judgesAsDefined } from "./anomaly-property.ts";

const RULE: Anomaly = {
  windowMs: HOUR_MS,
  baselineMs: 168 * HOUR_MS,
  ratioThreshold: 3,
  minBaselineEvents: 50,
  direction: "both",
};
/** A week and a day of 100 entries by day and 20 by night. */
const counts = new Map(
  Array.from({ length: 192 }, (_, hour) => [hour * HOUR_MS, hour % 24 >= 8 && hour % 24 < 20 ? 100 : 20]),
);
const DAY = { fromMs: 168 * HOUR_MS, toMs: 192 * HOUR_MS };

function judged(changed: Readonly<Record<number, number>>, rule: Anomaly = RULE) {
  const series = new Map([
    ...counts,
    ...Object.entries(changed).map(([hour, n]) => [Number(hour) * HOUR_MS, n] as const),
  ]);
  return judgeWindows(rule, { counts: series, sinceMs: 0 }, DAY, () => false);
}

test("judges every window as the definition does", () => {
  fc.assert(judgesAsDefined, { numRuns: 1000 });
});

test("what is usual by day is not by night", () => {
  const verdicts = judged({ 170: 100, 180: 5 });
  expect(
    verdicts.filter(({ kind }) => kind !== "usual").map(({ startMs, kind }) => [startMs / HOUR_MS, kind]),
  ).toEqual([
    [170, "spike"],
    [180, "drop"],
  ]);
  expect(
    judged({ 170: 100, 180: 5 }, { ...RULE, direction: "drop" }).filter(({ kind }) => kind !== "usual"),
  ).toHaveLength(1);
});

test("says in a sentence why, with the band", () => {
  const [usual, , spike] = judged({ 170: 100 });
  if (usual === undefined || spike === undefined) throw new Error("no verdicts");
  expect(explainWindow(RULE, spike)).toBe(
    "100 entries in the hour from 1970-01-08T02:00:00Z, more than usual: 2.11 to 60 are usual at this hour of the day, where 20 are expected.",
  );
  expect(explainWindow(RULE, usual)).toStartWith(
    "20 entries in the hour from 1970-01-08T00:00:00Z: 2.11 to 60 are usual",
  );
  const [learning] = judged({}, { ...RULE, minBaselineEvents: 1_000_000 });
  if (learning === undefined) throw new Error("no verdicts");
  expect(explainWindow({ windowMs: 90_000 }, learning)).toBe(
    "20 entries in the 90 seconds from 1970-01-08T00:00:00Z; there are too few before to say what is usual.",
  );
});

test("unusual windows side by side are one episode, with what was furthest from expected as its peak", () => {
  const verdicts = judged({ 170: 100, 171: 300, 173: 100 });
  expect(joinedStretches(unusualStretches(RULE, verdicts), RULE.windowMs)).toEqual([
    { fromMs: 170 * HOUR_MS, toMs: 172 * HOUR_MS, untilMs: 172 * HOUR_MS, peak: 280 },
    { fromMs: 173 * HOUR_MS, toMs: 174 * HOUR_MS, untilMs: 174 * HOUR_MS, peak: 80 },
  ]);
});

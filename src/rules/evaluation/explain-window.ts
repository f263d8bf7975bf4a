import type { Anomaly, Phase, Verdict } from "./anomaly.ts";

const SAID: Readonly<Record<Phase, string>> = {
  "hour of the week": "at this hour of the week",
  "hour of the day": "at this hour of the day",
  any: "in such a window",
};
const UNITS = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

/** Why a window is unusual, or is not, in one sentence. */
export function explainWindow({ windowMs }: Pick<Anomaly, "windowMs">, verdict: Verdict): string {
  const { startMs, value, expected, low, high, kind, phase } = verdict;
  const from = new Date(startMs).toISOString().replace(".000Z", "Z");
  const counted = `${plural(value, value === 1 ? "entry" : "entries")} in the ${lengthOf(windowMs)} from ${from}`;
  if (kind === "learning") return `${counted}; there are too few before to say what is usual.`;
  const band = `${rounded(low)} to ${rounded(high)} are usual ${SAID[phase]}, where ${rounded(expected)} are expected`;
  return kind === "usual"
    ? `${counted}: ${band}.`
    : `${counted}, ${kind === "spike" ? "more" : "fewer"} than usual: ${band}.`;
}

function lengthOf(windowMs: number): string {
  const seconds = windowMs / 1000;
  const [size, name] = UNITS.find(([unit]) => seconds % unit === 0) ?? [1, "second"];
  const n = seconds / size;
  return n === 1 ? name : plural(n, `${name}s`);
}

function plural(n: number, noun: string): string {
  return `${n} ${noun}`;
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(3)));
}

import type { Severity } from "../../problems/events.ts";

const DAY_MS = 86_400_000;
/** What an incident weighs when it is new; so many of the most severe make nearly 100 together. */
const WEIGHTS: Readonly<Record<Severity, number>> = { low: 0.05, medium: 0.15, high: 0.35, critical: 0.6 };
/** After so long it weighs half. */
const HALF_LIFE_DAYS = 7;
/** By what a record says of the machine or the person; nothing said is as much as the middle. */
const FACTORS: Readonly<Record<string, number>> = { low: 0.75, medium: 1, high: 1.25, critical: 1.5 };

/** An incident that an entity has part in. */
export interface RiskCause {
  readonly incidentId: number;
  readonly title: string;
  readonly severity: Severity;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

/**
 * From 0 to 100: 100 · (1 − Π(1 − weight · decay)) · factor. `standing` is the criticality of an asset or the risk of an identity,
 * null where nobody says.
 */
export function riskOf(causes: readonly RiskCause[], standing: string | null, nowMs: number) {
  const terms = causes.map(({ incidentId, title, severity, atMs }) => {
    const ageDays = Math.max(0, nowMs - atMs) / DAY_MS;
    const decay = 2 ** (-ageDays / HALF_LIFE_DAYS);
    const weight = WEIGHTS[severity];
    return {
      incidentId,
      title,
      severity,
      weight,
      ageDays: rounded(ageDays),
      decay: rounded(decay),
      contribution: rounded(weight * decay),
    };
  });
  const factor = FACTORS[standing ?? "medium"] ?? 1;
  const left = terms.reduce((product, { weight, decay }) => product * (1 - weight * decay), 1);
  return { score: Math.min(100, Math.round(100 * (1 - left) * factor)), factor, terms };
}

function rounded(number: number): number {
  return Math.round(number * 10_000) / 10_000;
}

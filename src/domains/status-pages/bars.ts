import { type Period, uptimeOf } from "../../uptime/slo.ts";
import type { Span } from "../../uptime/spans.ts";
import type { Component } from "./types.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** What is known of less than this of a day says nothing about it. */
const KNOWN_MIN_MS = 60_000;
/** Less downtime than this is no bad day. */
const PERCENT_DECIMALS = 2;

/** The days, UTC, that end with the one of `nowMs`: the span of them all. */
export function daysUntil(nowMs: number, days: number): Span {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return { fromMs: today - (days - 1) * DAY_MS, toMs: nowMs };
}

/** The bars of a component, oldest first: one for each day of the span, without what was announced work. */
export function barsOf(
  periods: readonly Period[],
  maintenance: readonly Span[],
  span: Span,
): Component["days"] {
  const bars: Component["days"] = [];
  for (let fromMs = span.fromMs; fromMs < span.toMs; fromMs += DAY_MS) {
    const day = { fromMs, toMs: Math.min(fromMs + DAY_MS, span.toMs) };
    const within = periods.filter(
      (period) => period.fromMs < day.toMs && (period.toMs === null || period.toMs > fromMs),
    );
    const { knownMs, downMs, degradedMs, percent } = uptimeOf(within, maintenance, day);
    const isKnown = knownMs >= Math.min(KNOWN_MIN_MS, day.toMs - day.fromMs) && percent !== null;
    bars.push({
      date: new Date(fromMs).toISOString().slice(0, 10),
      state: !isKnown ? "unknown" : downMs > 0 ? "down" : degradedMs > 0 ? "degraded" : "operational",
      uptimePercent: isKnown ? roundedDown(percent) : null,
    });
  }
  return bars;
}

/** Rounded down, so that 100 means no downtime at all. */
export function roundedDown(percent: number): number {
  const factor = 10 ** PERCENT_DECIMALS;
  // A percentage comes with four decimals, of which floating point must not lose the last.
  return Math.floor(Math.round(percent * 10_000) / (10_000 / factor)) / factor;
}

import { lengthOutside, mergedSpans, type Span } from "./spans.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const BASIS_POINTS = 10_000n;

/** A confirmed state of a monitor, half-open; of `paused` and `unknown` time nothing is known. */
export interface Period {
  readonly status: "up" | "degraded" | "down" | "paused" | "unknown";
  readonly fromMs: number;
  /** Null for the one that goes on. */
  readonly toMs: number | null;
}

/** What was known of a stretch of time outside of maintenance, in milliseconds; `knownMs` is up, degraded and down. */
interface Uptime {
  readonly knownMs: number;
  readonly degradedMs: number;
  readonly downMs: number;
  /** Null where nothing is known. Rounded down, so that 100 means no downtime at all. */
  readonly percent: number | null;
}

/** What of a window was up, for periods that do not overlap; degraded counts as up. */
export function uptimeOf(periods: readonly Period[], maintenance: readonly Span[], window: Span): Uptime {
  const excluded = mergedSpans(maintenance);
  const ms = { up: 0, degraded: 0, down: 0, paused: 0, unknown: 0 };
  for (const { status, fromMs, toMs } of periods) {
    const within = {
      fromMs: Math.max(fromMs, window.fromMs),
      toMs: Math.min(toMs ?? window.toMs, window.toMs),
    };
    ms[status] += lengthOutside(within, excluded);
  }
  const knownMs = ms.up + ms.degraded + ms.down;
  return { knownMs, degradedMs: ms.degraded, downMs: ms.down, percent: percentOf(knownMs, ms.down) };
}

interface Objective {
  /** Basis points. */
  readonly uptimeTargetBp: number;
  readonly uptimeWindowDays: number;
}

/** How an objective stands, in milliseconds. */
interface ObjectiveState {
  readonly downMs: number;
  /** What may be down of the full window, whether or not the monitor is as old: a new one does not breach at once. */
  readonly allowedDownMs: number;
  /** Never below 0. */
  readonly budgetLeftMs: number;
  readonly isBreached: boolean;
}

/** The window that an objective is about at a moment. */
export function objectiveWindow(
  { uptimeWindowDays }: Pick<Objective, "uptimeWindowDays">,
  nowMs: number,
): Span {
  return { fromMs: nowMs - uptimeWindowDays * DAY_MS, toMs: nowMs };
}

/** Breached is what was down for longer than the rest of the target allows of the full window. */
export function objectiveState(objective: Objective, downMs: number): ObjectiveState {
  const windowMs = BigInt(objective.uptimeWindowDays * DAY_MS);
  const allowedDownMs = Number((windowMs * (BASIS_POINTS - BigInt(objective.uptimeTargetBp))) / BASIS_POINTS);
  return {
    downMs,
    allowedDownMs,
    budgetLeftMs: Math.max(0, allowedDownMs - downMs),
    isBreached: downMs > allowedDownMs,
  };
}

/** To four decimals. Floating point would round 99.99999 up to 100. */
function percentOf(knownMs: number, downMs: number): number | null {
  if (knownMs === 0) return null;
  return Number((BigInt(knownMs - downMs) * 1_000_000n) / BigInt(knownMs)) / 10_000;
}

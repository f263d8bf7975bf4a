import { validationFailed } from "../../../errors.ts";
import { type Period, uptimeOf } from "../../../uptime/slo.ts";
import type { Span } from "../../../uptime/spans.ts";
import type { BucketOfChecks } from "./check-rows.ts";
import { BUCKET_MIN_SEC, type Bucket, type Timeline } from "./types.ts";

const BUCKETS_MAX = 1000;
/** A bar across a screen. */
const BUCKETS_DEFAULT = 96;
const WORST_FIRST = ["down", "degraded", "up", "unknown", "paused"] as const;

/** The length of a bucket. Throws VALIDATION_FAILED where there would be too many. */
export function bucketSecOf({ fromMs, toMs }: Span, asked: number | undefined): number {
  const lengthSec = (toMs - fromMs) / 1000;
  const least = Math.ceil(lengthSec / BUCKETS_DEFAULT / BUCKET_MIN_SEC) * BUCKET_MIN_SEC;
  const bucketSec = asked ?? least;
  if (lengthSec / bucketSec <= BUCKETS_MAX) return bucketSec;
  throw validationFailed([
    { path: "/bucketSec", code: "too_small", message: `there are ${BUCKETS_MAX} buckets at most` },
  ]);
}

interface Watched {
  /** Oldest first, none over another. */
  readonly periods: readonly Period[];
  readonly maintenance: readonly Span[];
  /** Null while the log store does not answer. */
  readonly checks: ReadonlyMap<number, BucketOfChecks> | null;
}

/** What was known of equal lengths of time. */
export function timelineOf(span: Span, bucketSec: number, watched: Watched): Timeline["buckets"] {
  const bucketMs = bucketSec * 1000;
  const buckets: Bucket[] = [];
  let first = 0;
  for (let fromMs = span.fromMs; fromMs < span.toMs; fromMs += bucketMs) {
    const window = { fromMs, toMs: Math.min(fromMs + bucketMs, span.toMs) };
    while (first < watched.periods.length && endsBefore(watched.periods[first], fromMs)) first += 1;
    const periods = overlapping(watched.periods, first, window.toMs);
    const maintenance = watched.maintenance.filter((one) => one.fromMs < window.toMs && one.toMs > fromMs);
    const uptime = uptimeOf(periods, maintenance, window);
    const found = watched.checks?.get(buckets.length);
    buckets.push({
      start: new Date(fromMs).toISOString(),
      status: WORST_FIRST.find((status) => periods.some((period) => period.status === status)) ?? null,
      uptimePercent: uptime.percent,
      downtimeSec: uptime.downMs / 1000,
      checks: watched.checks === null ? null : (found?.checks ?? 0),
      avgResponseMs: found?.avgResponseMs ?? null,
    });
  }
  return buckets;
}

function endsBefore(period: Period | undefined, atMs: number): boolean {
  return period?.toMs !== null && period !== undefined && period.toMs <= atMs;
}

/** Those from a place on that begin before a moment. */
function overlapping(periods: readonly Period[], first: number, beforeMs: number): Period[] {
  const found: Period[] = [];
  for (let index = first; index < periods.length; index += 1) {
    const period = periods[index];
    if (period === undefined || period.fromMs >= beforeMs) break;
    found.push(period);
  }
  return found;
}

import { validationFailed } from "../../errors.ts";
import type { CountsDependencies } from "../../rules/counters/read-counts.ts";
import {
  explainMetric,
  metricBuckets,
  metricStretches,
  windowValues,
} from "../../rules/evaluation/metric-windows.ts";
import { joinedStretches } from "../../rules/evaluation/stretches.ts";
import { readPoints } from "../../rules/metrics/read-points.ts";
import { metricSource } from "../../rules/metrics/source.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { wholeOf } from "./alerts.ts";
import { PREVIEW_DEFAULT_MS, PREVIEW_MAX_EPISODES, PREVIEW_MAX_MS, PREVIEW_MAX_POINTS } from "./limits.ts";
import type { MetricPreview, MetricPreviewBody } from "./types.ts";

export interface PreviewDependencies extends CountsDependencies {
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What a rule would have found in a range, by the same code as one that is live. Throws VALIDATION_FAILED and what reading logs throws. */
export function previewMetricAlert(
  deps: PreviewDependencies,
  caller: QueryCaller,
  { from, to, ...body }: MetricPreviewBody,
): Promise<MetricPreview> {
  return previewTerms(deps, caller, wholeOf(body), { from, to });
}

/** The same of a rule's terms. */
export async function previewTerms(
  deps: PreviewDependencies,
  caller: QueryCaller,
  { metricName, service, windowSec, ...terms }: ReturnType<typeof wholeOf>,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): Promise<MetricPreview> {
  const nowMs = deps.now();
  const toMs = to === undefined ? nowMs : Math.min(nowMs, Date.parse(to));
  const fromMs = from === undefined ? toMs - PREVIEW_DEFAULT_MS : Date.parse(from);
  if (fromMs < 0) throw validationFailed([{ path: "/from", code: "custom", message: "is before 1970" }]);
  if (fromMs >= toMs)
    throw validationFailed([{ path: "/from", code: "custom", message: "is not before `to`" }]);
  if (toMs - fromMs > PREVIEW_MAX_MS)
    throw validationFailed([{ path: "/from", code: "custom", message: "is more than 31 days before `to`" }]);
  const { organizationId } = caller;
  const source = await askPostgres(() =>
    inOrganization(deps.sql, organizationId, (tx) => metricSource(tx, organizationId, metricName)),
  );
  const { bucketMs, windowMs } = metricBuckets(windowSec);
  const asked = { ...terms, windowMs };
  const ends = {
    fromMs: Math.floor(fromMs / bucketMs) * bucketMs,
    toMs: Math.floor(toMs / bucketMs) * bucketMs,
  };
  const span = {
    fromMs: ends.fromMs + bucketMs - windowMs,
    toMs: Math.max(ends.toMs, ends.fromMs + bucketMs),
  };
  const points = await readPoints(deps, caller, { source, service, span, bucketMs }, nowMs);
  const values = windowValues(asked, points, ends, bucketMs);
  const stretches = metricStretches(asked, values, bucketMs);
  const reasons = new Map(
    stretches.map((each) => [each.fromMs, explainMetric(asked, metricName, each.value)]),
  );
  const episodes = joinedStretches(stretches, windowMs);
  return {
    matched: stretches.length,
    episodes: episodes.slice(0, PREVIEW_MAX_EPISODES).map(({ fromMs: startMs, toMs: endMs, peak }) => ({
      ...{ group: {}, startedAt: new Date(startMs).toISOString(), endedAt: new Date(endMs).toISOString() },
      ...{ peak, because: reasons.get(startMs) ?? "" },
    })),
    episodesTotal: episodes.length,
    values: values.slice(-PREVIEW_MAX_POINTS).map(({ endMs, value }) => {
      return { end: new Date(endMs).toISOString(), value };
    }),
    truncated: episodes.length > PREVIEW_MAX_EPISODES || values.length > PREVIEW_MAX_POINTS,
  };
}

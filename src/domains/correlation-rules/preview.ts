import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { validationFailed } from "../../errors.ts";
import { groupValues } from "../../rules/counters/groups.ts";
import { joinedStretches } from "../../rules/evaluation/stretches.ts";
import { findIn } from "../../rules/live/correlation-rules.ts";
import type { Correlation } from "../../rules/live/find-correlated.ts";
import { HitsReader } from "../../rules/live/read-hits.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { type CorrelationTerms, countersOf, definitionOf, requireTerms } from "./definition.ts";
import { PREVIEW_DEFAULT_MS, PREVIEW_MAX_EPISODES, PREVIEW_MAX_MS } from "./limits.ts";
import { wholeOf } from "./rules.ts";
import type { CorrelationPreview, CorrelationPreviewBody } from "./types.ts";

export interface PreviewDependencies {
  readonly ranges: Pick<LogRanges, "read">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * What a rule would have found in a range, by the same code as one that is live. Throws VALIDATION_FAILED, KQL_INVALID and what
 * reading logs throws.
 */
export function previewCorrelation(
  deps: PreviewDependencies,
  caller: QueryCaller,
  { from, to, ...body }: CorrelationPreviewBody,
): Promise<CorrelationPreview> {
  return previewTerms(deps, caller, wholeOf(body), { from, to });
}

/** The same of a rule's terms. */
export async function previewTerms(
  { ranges, now }: PreviewDependencies,
  caller: QueryCaller,
  terms: CorrelationTerms,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): Promise<CorrelationPreview> {
  requireTerms(terms);
  const nowMs = now();
  const toMs = to === undefined ? nowMs : Date.parse(to);
  const fromMs = from === undefined ? toMs - PREVIEW_DEFAULT_MS : Date.parse(from);
  if (fromMs < 0) throw validationFailed([{ path: "/from", code: "custom", message: "is before 1970" }]);
  if (fromMs >= toMs)
    throw validationFailed([{ path: "/from", code: "custom", message: "is not before `to`" }]);
  if (toMs - fromMs > PREVIEW_MAX_MS)
    throw validationFailed([{ path: "/from", code: "custom", message: "is more than 7 days before `to`" }]);
  const { condition, windowMs } = definitionOf(terms, 0);
  if (condition.kind !== "sequence" && condition.kind !== "cardinality")
    throw new Error("a rule of another kind");
  const correlation: Correlation = { ...condition, windowMs };
  const steps = countersOf(terms, nowMs);
  const reader = new HitsReader(ranges);
  const { groups, note } = await findIn(correlation, [{ fromMs, toMs: toMs + 1 }], (span) =>
    reader.read(caller, correlation, steps, span),
  );
  const episodes = [...groups].flatMap(([group, { stretches, because, evidence }]) =>
    joinedStretches(stretches, windowMs).map((each) => ({
      ...{ ...each, group, because: because(each.fromMs) },
      evidence: () => evidence?.(each.fromMs) ?? [],
    })),
  );
  const sorted = episodes.toSorted((left, right) => left.fromMs - right.fromMs);
  return {
    matched: [...groups.values()].reduce((total, { stretches }) => total + stretches.length, 0),
    episodes: sorted
      .slice(0, PREVIEW_MAX_EPISODES)
      .map(({ group, fromMs: startMs, toMs: endMs, peak, because, evidence }) => ({
        group: { [terms.joinField]: groupValues(group)[0] ?? "" },
        ...{
          startedAt: new Date(startMs).toISOString(),
          endedAt: new Date(endMs).toISOString(),
          peak,
          because,
          entries: [...evidence()],
        },
      })),
    episodesTotal: sorted.length,
    truncated: note !== null || sorted.length > PREVIEW_MAX_EPISODES,
  };
}

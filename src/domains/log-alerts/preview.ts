import type { Sql, TransactionSql } from "postgres";
import type { QueryBudget } from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { validationFailed } from "../../errors.ts";
import { namesWithin } from "../../kql/kept/kept-directory.ts";
import type { Counter } from "../../rules/counters/counter-store.ts";
import type { Verdict } from "../../rules/evaluation/anomaly.ts";
import type { TimeSpan } from "../../rules/evaluation/bucket-sums.ts";
import { joinedStretches } from "../../rules/evaluation/stretches.ts";
import { conditionOf, type RuleDefinition } from "../../rules/live/definition.ts";
import { silences } from "../../rules/live/find-missing.ts";
import { bucketSecOf, findAnomaly, findThreshold } from "../../rules/live/find-stretches.ts";
import { explainThreshold } from "../../rules/live/tell.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { wholeOf } from "./alerts.ts";
import { type AlertTerms, counterOf, definitionOf, isExpensive, requireTerms } from "./definition.ts";
import { EntryCounts } from "./entry-counts.ts";
import { PREVIEW_DEFAULT_MS, PREVIEW_MAX_EPISODES, PREVIEW_MAX_MS } from "./limits.ts";
import { previewQuery } from "./preview-query.ts";
import { groupOf, shownEpisode, type Told, timeText } from "./shown-episode.ts";
import type { Preview, PreviewBody } from "./types.ts";

export interface PreviewDependencies {
  readonly sql: Sql;
  readonly ranges: LogRanges;
  readonly budget: QueryBudget;
  /** Whom an incident that opens at a moment pages by a policy, or by the organisation's own. */
  readonly whoIsPaged: (
    tx: TransactionSql,
    organizationId: number,
    policyId: number | null,
    atMs: number,
  ) => Promise<readonly Paged[]>;
  /** The names of the channels that are told by rules without any of their own. */
  readonly defaultChannels: (tx: TransactionSql, organizationId: number) => Promise<string[]>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Who is told to get up, and so many seconds after the incident opened; nobody where nobody is on call. */
interface Paged {
  readonly offsetSec: number;
  readonly userId: number | null;
}

const DAY_MS = 86_400_000;

/**
 * What a rule would have found in a range that is over: by the same code as one that is live, over entries instead of
 * counts. Throws VALIDATION_FAILED, KQL_INVALID and what reading logs throws.
 */
export function previewAlert(
  deps: PreviewDependencies,
  caller: QueryCaller,
  { from, to, ...body }: PreviewBody,
): Promise<Preview> {
  const channels = Object.keys(body).filter((name) => name.startsWith("alert"));
  return previewTerms(deps, caller, wholeOf(body), { from, to, channels });
}

/** The same of a rule's terms; `channels` are whom it would tell. Where it is historic, old files that came in the meantime count. */
export async function previewTerms(
  deps: PreviewDependencies,
  caller: QueryCaller,
  terms: AlertTerms,
  of: { readonly from?: string | undefined; readonly to?: string | undefined; readonly channels: string[] },
): Promise<Preview> {
  const { from, to, channels } = of;
  const { organizationId } = caller;
  const { kept, paged, defaults } = await askPostgres(() =>
    inOrganization(deps.sql, organizationId, async (tx) => ({
      kept: await namesWithin(tx, organizationId),
      defaults: channels.length > 0 ? channels : await deps.defaultChannels(tx, organizationId),
      paged: await deps.whoIsPaged(tx, organizationId, terms.escalationPolicyId, deps.now()),
    })),
  );
  requireTerms(terms, deps.now(), kept);
  const span = spanOf(from, to, deps.now());
  const whom = { channels: defaults, pages: paged.map(({ offsetSec, userId }) => ({ offsetSec, userId })) };
  if (terms.kind === "scheduled") return previewQuery(deps, caller, terms, span, whom);
  const definition = definitionOf(terms);
  const counter = { ...counterOf(terms, deps.now()), id: 0, organizationId };
  const reader = new EntryCounts(deps, caller, counter);
  const { told, verdicts, isCut } = await findWithOld(deps, caller, { definition, counter, span, reader });
  const sorted = told.toSorted((left, right) => left.fromMs - right.fromMs);
  return {
    matched: await reader.count(span),
    episodes: sorted.slice(0, PREVIEW_MAX_EPISODES).map((each) => shownEpisode(terms.groupBy, each)),
    episodesTotal: sorted.length,
    episodesPerDay: Number(((sorted.length * DAY_MS) / (span.toMs - span.fromMs)).toPrecision(3)),
    band: verdicts.map(({ startMs, value, expected, low, high }) => {
      return { start: timeText(startMs), value, expected, low, high };
    }),
    samples: await reader.samples(span),
    noData: await missingIn(terms, definition, span, reader),
    ...{ ...whom, expensive: isExpensive(terms) },
    truncated: isCut || sorted.length > PREVIEW_MAX_EPISODES,
  };
}

/** What was found, and what would have been had nothing been old when it came: of that nobody is told. */
async function findWithOld(
  deps: PreviewDependencies,
  caller: QueryCaller,
  of: {
    readonly definition: RuleDefinition;
    readonly counter: Counter;
    readonly span: TimeSpan;
    readonly reader: EntryCounts;
  },
): ReturnType<typeof findTold> {
  const { definition, counter, span, reader } = of;
  const timely = await findTold(definition, counter, span, reader);
  if ((await reader.countOld(span)) === 0) return timely;
  const whole = await findTold(
    definition,
    counter,
    span,
    new EntryCounts(deps, caller, { ...counter, clock: "past" }),
  );
  const isTold = (each: Told): boolean =>
    timely.told.some(
      ({ group, fromMs, toMs }) => group === each.group && fromMs <= each.toMs && each.fromMs <= toMs,
    );
  return { ...whole, told: whole.told.map((each) => ({ ...each, isHistoric: !isTold(each) })) };
}

/** When entries were missing: of a rule without groups from the beginning on, of groups after their first entry. */
async function missingIn(
  { groupBy }: AlertTerms,
  { noDataMs = null, windowMs }: RuleDefinition,
  span: TimeSpan,
  reader: EntryCounts,
): Promise<Preview["noData"]> {
  if (noDataMs === null) return [];
  const bucketMs = bucketSecOf({ kind: "threshold", windowMs }) * 1000;
  const fromMs = Math.floor(span.fromMs / bucketMs) * bucketMs;
  const { groups } = await reader.sums({ fromMs, toMs: span.toMs }, 1);
  if (groupBy.length === 0 && groups.size === 0)
    return silences([], span, noDataMs).map((each) => missingOf(groupBy, "", each));
  const found = [...groups].flatMap(([group, sums]) => {
    const firstMs = Math.min(...sums.map(({ startMs }) => startMs));
    const known = { fromMs: groupBy.length === 0 ? span.fromMs : firstMs, toMs: span.toMs };
    return silences(sums, known, noDataMs).map((each) => missingOf(groupBy, group, each));
  });
  return found.slice(0, PREVIEW_MAX_EPISODES);
}

function missingOf(groupBy: readonly string[], group: string, { fromMs, toMs }: TimeSpan) {
  return { group: groupOf(groupBy, group), from: timeText(fromMs), to: timeText(toMs) };
}

async function findTold(
  definition: RuleDefinition,
  { bucketSec }: Counter,
  { fromMs, toMs }: TimeSpan,
  reader: EntryCounts,
): Promise<{ told: Told[]; verdicts: readonly Verdict[]; isCut: boolean }> {
  const condition = conditionOf(definition);
  const bucketMs = bucketSec * 1000;
  const points = {
    fromMs: Math.floor(fromMs / bucketMs) * bucketMs,
    toMs: Math.ceil(toMs / bucketMs) * bucketMs,
  };
  if (condition.kind === "threshold") {
    const { groups, isCut } = await findThreshold(condition, [points], reader);
    const told = [...groups].flatMap(([group, found]) =>
      joinedStretches(found, definition.windowMs).map((each) => {
        return { ...each, group, because: explainThreshold(definition, condition.threshold, each.peak) };
      }),
    );
    return { told, verdicts: [], isCut };
  }
  // What is not over cannot be judged.
  const whole = { fromMs: points.fromMs, toMs: Math.floor(toMs / bucketMs) * bucketMs };
  const sinceMs = whole.fromMs - condition.baselineMs;
  const { unusual, verdicts } = await findAnomaly(condition, whole, { sinceMs }, () => false, reader);
  const reasons = new Map(unusual.map((each) => [each.fromMs, each.because]));
  const told = joinedStretches(unusual, definition.windowMs).map((each) => {
    return { ...each, group: "", because: reasons.get(each.fromMs) ?? "" };
  });
  return { told, verdicts, isCut: false };
}

function spanOf(from: string | undefined, to: string | undefined, nowMs: number): TimeSpan {
  // What came just now is in it.
  const endMs = nowMs + 1;
  const toMs = to === undefined ? endMs : Math.min(endMs, Date.parse(to));
  const fromMs = from === undefined ? toMs - PREVIEW_DEFAULT_MS : Date.parse(from);
  if (fromMs >= toMs)
    throw validationFailed([{ path: "/from", code: "custom", message: "is not earlier than `to`" }]);
  if (toMs - fromMs > PREVIEW_MAX_MS)
    throw validationFailed([
      {
        path: "/from",
        code: "custom",
        message: `is more than ${PREVIEW_MAX_MS / DAY_MS} days earlier than \`to\``,
      },
    ]);
  return { fromMs, toMs };
}

import type { TimeSpan } from "../../rules/evaluation/bucket-sums.ts";
import { joinedStretches } from "../../rules/evaluation/stretches.ts";
import { askWindows, endsBetween } from "../../rules/live/scheduled-rules.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { type AlertTerms, everyMsOf } from "./definition.ts";
import { PREVIEW_MAX_ASKED, PREVIEW_MAX_EPISODES } from "./limits.ts";
import { shownEpisode } from "./shown-episode.ts";
import type { Preview } from "./types.ts";

const DAY_MS = 86_400_000;

/** What the query would have said of the latest windows of a range. */
export async function previewQuery(
  deps: Parameters<typeof askWindows>[0],
  caller: QueryCaller,
  terms: AlertTerms,
  { fromMs, toMs }: TimeSpan,
  whom: Pick<Preview, "channels" | "pages">,
): Promise<Preview> {
  const everyMs = everyMsOf(terms);
  const lastMs = Math.floor(toMs / everyMs) * everyMs;
  const firstMs = Math.max(Math.ceil(fromMs / everyMs) * everyMs, lastMs - PREVIEW_MAX_ASKED * everyMs);
  const { groupBy, threshold, windowSec } = terms;
  const query = { kql: terms.kql ?? "", windowMs: windowSec * 1000, everyMs, threshold, groupBy };
  const found = await askWindows(deps, caller, query, endsBetween(firstMs, lastMs, everyMs));
  const told = [...found].flatMap(([group, stretches]) => {
    const reasons = new Map(stretches.map((each) => [each.fromMs, each.because]));
    return joinedStretches(stretches, query.windowMs).map((each) => {
      return { ...each, group, because: reasons.get(each.fromMs) ?? "" };
    });
  });
  const sorted = told.toSorted((left, right) => left.fromMs - right.fromMs);
  return {
    matched: [...found.values()].flat().reduce((sum, { peak }) => sum + peak, 0),
    episodes: sorted.slice(0, PREVIEW_MAX_EPISODES).map((each) => shownEpisode(groupBy, each)),
    episodesTotal: sorted.length,
    episodesPerDay: Number(((sorted.length * DAY_MS) / Math.max(everyMs, lastMs - firstMs)).toPrecision(3)),
    ...{ band: [], samples: [], noData: [], expensive: false, ...whom },
    truncated: sorted.length > PREVIEW_MAX_EPISODES || firstMs - fromMs >= everyMs,
  };
}

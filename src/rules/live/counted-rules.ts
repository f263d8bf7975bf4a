import type { Sql } from "postgres";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { type Counter, readCounterRow } from "../counters/counter-store.ts";
import { ALERT_FUTURE_MAX_MS } from "../counters/limits.ts";
import { bucketMsOf, type TimeSpan } from "../evaluation/bucket-sums.ts";
import type { SignalTable } from "../seal/signal-store.ts";
import type { RuleDefinition } from "./definition.ts";
import { findHolds } from "./find-holds.ts";
import { findLive } from "./find-live.ts";
import { newestEntries } from "./find-missing.ts";
import type { CountsSource, RuleStart } from "./find-stretches.ts";
import { episodesSince, type LiveRule, type StoredEpisode } from "./live-store.ts";
import { readSums } from "./read-sums.ts";
import { TimesReader } from "./read-times.ts";
import type { Findings, GroupFinding, Moment, RuleFinder } from "./rule-finder.ts";

const NOTHING_FOUND: GroupFinding = {
  ...{ stretches: [], wholeFromMs: null, because: () => "", judgedMs: null, nextMs: null },
};

const TOO_MANY_TO_MISS =
  "It has more groups than can be missed: of those that came last nobody is told when they stop.";

/** With what is known of groups beside the stretches in which the condition holds. */
async function withMore(
  definition: RuleDefinition,
  found: Findings,
  at: Moment,
  source: CountsSource,
): Promise<Findings> {
  const groups = new Map(found.groups);
  let { note } = found;
  const add = (group: string, more: Partial<GroupFinding>): unknown =>
    groups.set(group, { ...(groups.get(group) ?? NOTHING_FOUND), ...more });
  const { noDataMs = null } = definition;
  if (noDataMs !== null) {
    const watched = [...at.kept].flatMap(([group, { lastDataMs }]) =>
      lastDataMs === undefined ? [] : [group],
    );
    const { newest, isCut } = await newestEntries(
      [...at.spans, ...unreadSpan(at, definition.windowMs, noDataMs)],
      new Set(watched),
      source,
    );
    for (const [group, lastDataMs] of newest) add(group, { lastDataMs });
    if (isCut) note ??= TOO_MANY_TO_MISS;
  }
  for (const [group, holds] of await findHolds(definition, found.groups, at, source)) add(group, { holds });
  return { ...found, groups, note };
}

/** Where it seems that nothing came for so long: what came meanwhile, of which nothing else followed, nobody has noted. */
function unreadSpan({ kept, throughMs }: Moment, windowMs: number, noDataMs: number): readonly TimeSpan[] {
  const { lastDataMs, state = null } = kept.get("") ?? {};
  if (lastDataMs === undefined || state?.kind === "no_data" || lastDataMs + noDataMs > throughMs) return [];
  // A bucket that begins before the last entry that is known may have later ones; those of an anomaly are its windows.
  const fromMs = lastDataMs - Math.max(windowMs, bucketMsOf(windowMs));
  return [{ fromMs, toMs: throughMs + ALERT_FUTURE_MAX_MS }];
}

/** Rules that ask how many entries a counter has. */
export class CountedRules implements RuleFinder {
  readonly #sql: Sql;
  readonly #signals: SignalTable;
  readonly #times: TimesReader;

  constructor(sql: Sql, signals: SignalTable, ranges: Pick<LogRanges, "read">) {
    this.#sql = sql;
    this.#signals = signals;
    this.#times = new TimesReader(sql, ranges);
  }

  readonly find = async (rule: LiveRule, at: Moment, signal: AbortSignal): Promise<Findings | null> => {
    const [counterId] = rule.counterIds;
    const counter =
      counterId === undefined ? null : await askPostgres(() => readCounterRow(this.#sql, counterId));
    if (counter === null) return null;
    const source: CountsSource = {
      sums: (span, least) => readSums(this.#signals, counter, span, least, signal),
      times: (spans, { sealed }) => this.#times.read(counter, spans, sealed, signal),
    };
    const { madeMs } = counter;
    const start: RuleStart = {
      madeMs,
      since: (span) => this.#times.readSince(counter, span, madeMs, signal),
    };
    const isAnomaly = rule.definition.condition.kind === "anomaly";
    const recorded = isAnomaly ? await this.#recorded(rule, counter) : [];
    const found = await findLive(rule.definition, counter, { ...at, recorded }, source, start);
    return withMore(rule.definition, found, at, source);
  };

  /** The episodes that are no baseline. */
  #recorded(rule: LiveRule, counter: Counter): Promise<StoredEpisode[]> {
    return askPostgres(() => this.#sql.begin((tx) => episodesSince(tx, rule, [""], counter.pastFromMs ?? 0)));
  }
}

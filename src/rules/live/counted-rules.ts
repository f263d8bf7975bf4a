import type { Sql } from "postgres";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { type Counter, readCounterRow } from "../counters/counter-store.ts";
import type { SignalTable } from "../seal/signal-store.ts";
import { findLive } from "./find-live.ts";
import type { CountsSource } from "./find-stretches.ts";
import { episodesSince, type LiveRule, type StoredEpisode } from "./live-store.ts";
import { readSums } from "./read-sums.ts";
import { TimesReader } from "./read-times.ts";
import type { Findings, Moment, RuleFinder } from "./rule-finder.ts";

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
    const isAnomaly = rule.definition.condition.kind === "anomaly";
    const recorded = isAnomaly ? await this.#recorded(rule, counter) : [];
    return findLive(rule.definition, counter, { ...at, recorded }, source);
  };

  /** The episodes that are no baseline. */
  #recorded(rule: LiveRule, counter: Counter): Promise<StoredEpisode[]> {
    return askPostgres(() => this.#sql.begin((tx) => episodesSince(tx, rule, [""], counter.pastFromMs ?? 0)));
  }
}

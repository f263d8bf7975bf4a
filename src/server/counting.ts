import type { LogRanges } from "../archive/reading/log-ranges.ts";
import type { Changes } from "../changes/changes.ts";
import { Admission } from "../concurrency/admission.ts";
import type { Config } from "../config/config.ts";
import { ErrorFinder } from "../domains/log-errors/finding/error-finder.ts";
import { EntityFinder } from "../entities/entity-finder.ts";
import { removeOldEntities } from "../entities/entity-store.ts";
import { HitTelling } from "../entities/indicators/hit-telling.ts";
import { RetroHunt } from "../entities/indicators/retro-hunt.ts";
import { Claimant } from "../jobs/claims/claimant.ts";
import type { Logger } from "../log.ts";
import { removeEndedCounters } from "../rules/counters/counter-store.ts";
import { CorrelationRules } from "../rules/live/correlation-rules.ts";
import { CountedRules } from "../rules/live/counted-rules.ts";
import { logRules } from "../rules/live/log-rules.ts";
import { MetricRules } from "../rules/live/metric-rules.ts";
import { RuleEvaluation } from "../rules/live/rule-evaluation.ts";
import { ScheduledRules } from "../rules/live/scheduled-rules.ts";
import { PastCounting } from "../rules/past/past-counting.ts";
import { CounterFinder } from "../rules/seal/counter-finder.ts";
import { COUNTING_BUDGET } from "../rules/seal/limits.ts";
import { Sealer } from "../rules/seal/sealer.ts";
import type { SignalTable } from "../rules/seal/signal-store.ts";
import type { StoredMarks } from "../rules/seal/stored-marks.ts";
import { unsealedSince } from "../rules/seal/unsealed-since.ts";
import { removeOldStreams } from "../rules/streams/stream-store.ts";
import { tableDirectorySync } from "../storage/embedded/table-directory.ts";
import type { Stores } from "../storage/open.ts";
import { QueryRunner } from "../storage/query-runner.ts";
import type { Metrics } from "./metrics.ts";

/** Of the store's memory for statements: what people's questions leave, see `QUERIES_STORE_SHARE`. */
const STORE_SHARE = 1 / 16;

interface CountingOptions {
  readonly config: Config;
  readonly stores: Stores;
  readonly ranges: LogRanges;
  readonly marks: StoredMarks;
  readonly isRecovered: () => boolean;
  readonly isDrained: () => boolean;
  readonly changes: Changes;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** What counts the entries that this server stores, and those that were there before anybody counted, and the rules about them. */
export function openCounting(options: CountingOptions) {
  const { config, stores, ranges, marks, isRecovered, isDrained, changes, metrics, log } = options;
  const { clickhouse, clickhouseEndpoint: endpoint, postgres: sql } = stores;
  const settle =
    config.clickhouseUrl === null
      ? tableDirectorySync(clickhouse, "signals", config.dataDirectory)
      : async () => undefined;
  const signals: SignalTable = { endpoint, settle };
  const { id: holder, place } = stores.instance.holder;
  const finders = {
    log: logRules(new CountedRules(sql, signals, ranges), new ScheduledRules({ sql, ranges })),
    correlation: new CorrelationRules(sql, ranges),
    metric: new MetricRules({ sql, signals, ranges, budget: COUNTING_BUDGET }),
  };
  const evaluation = new RuleEvaluation({ sql, signals, changes, finders, log });
  const runner = new QueryRunner({
    endpoint,
    // One server seals one range at a time.
    admission: new Admission({
      what: "counting",
      dependency: "clickhouse",
      ...{ maxRunning: 1, maxWaiting: 1, maxRunningOfOne: 1, maxWaitingOfOne: 1, maxRunningOfPerson: 1 },
    }),
    part: { memory: STORE_SHARE, places: 1 },
    metrics,
    monotonicMs: () => performance.now(),
  });
  const sealer = new Sealer({
    ...{ sql, signals, marks, isRecovered, isDrained, log },
    finders: [
      new CounterFinder({ sql, endpoint, runner, onChanged: () => evaluation.wake(), log }),
      new EntityFinder({ sql, runner, onHits: () => telling.wake(), now: Date.now, log }),
      new ErrorFinder(endpoint),
    ],
    sealing: { holder, place },
    metrics: metrics.seal,
    now: Date.now,
  });
  const telling = new HitTelling({ sql, changes, log });
  const hunt = new RetroHunt({ sql, endpoint, onHits: () => telling.wake(), now: Date.now, log });
  const claimant = new Claimant(place);
  const past = new PastCounting({ sql, signals, ranges, claimant, now: Date.now, log });
  return {
    signals,
    housekeeping: [removeEndedCounters, removeOldStreams, removeOldEntities],
    unsealedSince: (signal: AbortSignal) => unsealedSince({ sql, endpoint }, Date.now(), signal),
    onCounterMade: () => past.wake(),
    onIocBatch: () => hunt.wake(),
    start: () => {
      sealer.start();
      past.start();
      evaluation.start();
      telling.start();
      hunt.start();
    },
    stop: async () => {
      await Promise.all([sealer.stop(), past.stop(), evaluation.stop(), telling.stop(), hunt.stop()]);
    },
  };
}

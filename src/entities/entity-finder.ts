import type { Sql } from "postgres";
import { LOG_ID_STEP, logIdMs } from "../../ingest/index.ts";
import { type Aggregate, ALL_TIME, emit, guardPlanOfEach, type MadeSpan } from "../../query/index.ts";
import { FairShare } from "../concurrency/fair-share.ts";
import { MemoryShare } from "../concurrency/memory-share.ts";
import { ThreadSlice } from "../concurrency/thread-turns.ts";
import { ApiError } from "../errors.ts";
import type { Logger } from "../log.ts";
import {
  attributeKeysOf,
  type Found,
  type SealedRange,
  type SealFinder,
  type SealNote,
} from "../rules/seal/finder.ts";
import { COUNTING_BUDGET, COUNTING_MEMORY_BYTES, SEAL_MAX_ENTRIES } from "../rules/seal/limits.ts";
import type { Signal } from "../rules/seal/signal-store.ts";
import type { QueryRunner } from "../storage/query-runner.ts";
import { noteSeen } from "./entity-store.ts";
import { addHits, type IndicatorHit } from "./indicators/indicator-store.ts";
import { domainAndParents } from "./indicators/indicator-value.ts";
import { TELL_AGAIN_MS } from "./indicators/limits.ts";
import { matchIndicators } from "./indicators/match-indicators.ts";
import { actorsPlan, agentsPlan, candidatesPlan } from "./observation-plan.ts";
import { type Observations, observe } from "./observe.ts";
import { edgeLabel, edgesKey, observableKey, observableLabel } from "./signal-labels.ts";

interface EntityFinderOptions {
  readonly sql: Sql;
  readonly runner: Pick<QueryRunner, "run">;
  /** Rings when hits are to be told. */
  readonly onHits: () => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
  /** Rows of one answer; what has more is asked about in parts. By default as many as an answer may have. */
  readonly answerMaxRows?: number;
}

/** What is noted of an organisation when a range is over. */
interface Noted extends Observations {
  readonly organizationId: number;
  readonly hits: readonly IndicatorHit[];
}

type RowOfOne = readonly unknown[];

/** The server asks for itself, about everybody. */
const NOBODY = 0;
const DAY_MS = 86_400_000;

/** Finds in entries who and what they are about: entities, what has to do with what, and indicators that are looked for. */
export class EntityFinder implements SealFinder {
  readonly #options: EntityFinderOptions;
  readonly #memory = new FairShare(COUNTING_MEMORY_BYTES);

  constructor(options: EntityFinderOptions) {
    this.#options = options;
  }

  /** Everybody's entries are about something. */
  readonly isWanted = async (): Promise<boolean> => true;

  readonly onNoted = (): void => this.#options.onHits();

  readonly find = async (range: SealedRange, signal: AbortSignal): Promise<Found | null> => {
    const noted = await this.#look(range, signal);
    const signals: Signal[] = [];
    for (const each of noted) await addSignals(signals, each, range.revision);
    return { signals, note: this.#noteOf(noted) };
  };

  /** The entries are still there, and say the same: indicators are those of the range's revision. */
  readonly recover = async (range: SealedRange, signal: AbortSignal): Promise<SealNote | null> =>
    this.#noteOf(await this.#look(range, signal));

  #noteOf(noted: readonly Noted[]): SealNote | null {
    if (noted.length === 0) return null;
    const nowMs = this.#options.now();
    return async (tx) => {
      for (const { organizationId, entities, hits } of noted) {
        await noteSeen(tx, organizationId, entities);
        await addHits(tx, organizationId, hits, { nowMs, againMs: TELL_AGAIN_MS });
      }
    };
  }

  async #look(range: SealedRange, signal: AbortSignal): Promise<Noted[]> {
    const { sql } = this.#options;
    const { span, revision, organizations } = range;
    const keys = attributeKeysOf(range);
    const mayHave = (key: string): boolean => keys === null || keys.has(key);
    const candidates = await this.#ask(candidatesPlan(mayHave), span, signal);
    const actors = await this.#ask(actorsPlan(mayHave), span, signal);
    const agents = await this.#ask(agentsPlan(mayHave), span, signal);
    const at = { revision, ms: logIdMs(span.through ?? span.after) };
    const noted: Noted[] = [];
    for (const organizationId of organizations.keys()) {
      const seen = await observe(
        candidates.get(organizationId) ?? [],
        actors.get(organizationId) ?? [],
        agents.get(organizationId) ?? [],
      );
      const hits = await matchIndicators(sql, organizationId, [...seen.observables, ...seen.doubtful], at);
      noted.push({ organizationId, ...seen, hits });
    }
    return noted;
  }

  /** What the plan finds in the entries of each organisation; in the halves of the span where one answer cannot hold it. */
  async #ask(plan: Aggregate | null, span: MadeSpan, signal: AbortSignal): Promise<Map<number, RowOfOne[]>> {
    const found = new Map<number, RowOfOne[]>();
    if (plan === null) return found;
    const spans = [span];
    for (let part = spans.pop(); part !== undefined; part = spans.pop()) {
      const halves = halvesOf(part);
      const rows = await this.#askAtOnce(plan, part, halves !== null, signal);
      if (rows === null) {
        spans.push(...(halves ?? []));
        continue;
      }
      for (const [organization, ...row] of rows) {
        const own = found.get(Number(organization));
        if (own === undefined) found.set(Number(organization), [row]);
        else own.push(row);
      }
    }
    return found;
  }

  /** Null where the answer does not hold everything that the span has, and a part of it may be asked about. */
  async #askAtOnce(
    plan: Aggregate,
    span: MadeSpan,
    isDivisible: boolean,
    signal: AbortSignal,
  ): Promise<readonly RowOfOne[] | null> {
    const { runner, log, answerMaxRows: maxRows = SEAL_MAX_ENTRIES } = this.#options;
    const memory = new MemoryShare(this.#memory, [NOBODY]);
    try {
      const guarded = guardPlanOfEach(plan, {
        timeRange: ALL_TIME,
        made: { are: "in", spans: [span] },
        maxRows,
        budget: COUNTING_BUDGET,
      });
      const caller = { organizationId: NOBODY, userId: NOBODY, signal, memory };
      const { rows } = await runner.run("seal", emit(guarded), caller);
      return rows.length >= maxRows && isDivisible ? null : rows;
    } catch (error) {
      if (!(error instanceof ApiError) || signal.aborted) throw error;
      if (isDivisible) return null;
      // One entry that the store cannot take apart must not keep others from being looked at.
      log.warn({ err: error, id: String(span.through) }, "an entry was not looked through");
      return [];
    } finally {
      memory.close();
    }
  }
}

/** The two parts of a span; null for one that has no more than one entry. */
function halvesOf({ instance, after, through }: MadeSpan): [MadeSpan, MadeSpan] | null {
  if (through === null || through - after <= BigInt(LOG_ID_STEP)) return null;
  const middle = after + (through - after) / 2n;
  return [
    { instance, after, through: middle },
    { instance, after: middle, through },
  ];
}

/**
 * The revision tells rows apart that would otherwise be one: an indicator is looked for in those before its own, and by seals in all
 * that follow, so that no entry is found twice or never.
 */
async function addSignals(
  signals: Signal[],
  { organizationId, observables, links }: Noted,
  revision: bigint,
): Promise<void> {
  const slice = new ThreadSlice();
  const add = (kind: "observable" | "edge", key: bigint, group: string, seen: Sighted): void => {
    const { n, firstMs, lastMs, sampleId: lastId } = seen;
    const bucketMs = Math.floor(lastMs / DAY_MS) * DAY_MS;
    const valueHash = kind === "observable" ? revision : 0n;
    const times = { firstMs, lastMs };
    signals.push({ organizationId, kind, key, bucketMs, n, lastId, group, valueHash, times });
  };
  for (const seen of observables) {
    if (slice.isOver) await slice.yield();
    const { type, value } = seen.indicator;
    const label = observableLabel(type, value, seen.where);
    // A domain is found under each that it lies in.
    const values = type === "domain" ? domainAndParents(value) : [value];
    for (const each of values) add("observable", observableKey(type, each), label, seen);
  }
  for (const seen of links) {
    if (slice.isOver) await slice.yield();
    add("edge", edgesKey(seen.from), edgeLabel(seen.kind, "out", seen.from, seen.to), seen);
    add("edge", edgesKey(seen.to), edgeLabel(seen.kind, "in", seen.to, seen.from), seen);
  }
}

interface Sighted {
  readonly n: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly sampleId: bigint;
}

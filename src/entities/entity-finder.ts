import type { Sql } from "postgres";
import { logIdMs } from "../../ingest/index.ts";
import { emit, guardPlan, type MadeSpan, type Relation } from "../../query/index.ts";
import { FairShare } from "../concurrency/fair-share.ts";
import { MemoryShare } from "../concurrency/memory-share.ts";
import { ApiError } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { Found, SealedRange, SealFinder, SealNote } from "../rules/seal/finder.ts";
import { COUNTING_BUDGET, COUNTING_MEMORY_BYTES, SEAL_MAX_ENTRIES } from "../rules/seal/limits.ts";
import { readRows } from "../rules/seal/read-rows.ts";
import type { Signal } from "../rules/seal/signal-store.ts";
import type { ClickHouseEndpoint } from "../storage/clickhouse.ts";
import type { QueryRunner } from "../storage/query-runner.ts";
import { noteSeen } from "./entity-store.ts";
import { addHits, type IndicatorHit } from "./indicators/indicator-store.ts";
import { domainAndParents } from "./indicators/indicator-value.ts";
import { TELL_AGAIN_MS } from "./indicators/limits.ts";
import { matchIndicators } from "./indicators/match-indicators.ts";
import { ATTRIBUTE_KEYS_MAX } from "./limits.ts";
import { actorsPlan, candidatesPlan } from "./observation-plan.ts";
import { type Observations, observe } from "./observe.ts";
import { edgeLabel, edgesKey, observableKey, observableLabel } from "./signal-labels.ts";

interface EntityFinderOptions {
  readonly sql: Sql;
  readonly endpoint: ClickHouseEndpoint;
  readonly runner: Pick<QueryRunner, "run">;
  /** Rings when hits are to be told. */
  readonly onHits: () => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
}

/** What is noted of an organisation when a range is over. */
interface Noted extends Observations {
  readonly organizationId: number;
  readonly hits: readonly IndicatorHit[];
}

const SERVER_USER_ID = 0;
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
    return { signals: noted.flatMap((each) => signalsOf(each, range.revision)), note: this.#noteOf(noted) };
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

  async #look({ span, revision, organizations }: SealedRange, signal: AbortSignal): Promise<Noted[]> {
    const { sql, log } = this.#options;
    const noted: Noted[] = [];
    const keys = await this.#attributeKeys(span, signal);
    const at = { revision, ms: logIdMs(span.through ?? span.after) };
    for (const organizationId of [...organizations.keys()].toSorted((a, b) => a - b)) {
      const known = keys.get(organizationId);
      const isMore = known !== undefined && known.size >= ATTRIBUTE_KEYS_MAX;
      const mayHave = (key: string): boolean => isMore || known?.has(key) === true;
      try {
        const candidates = await this.#ask(candidatesPlan(mayHave), organizationId, span, signal);
        const actors = await this.#ask(actorsPlan(mayHave), organizationId, span, signal);
        const seen = observe(candidates, actors);
        const hits = await matchIndicators(sql, organizationId, seen.observables, at);
        noted.push({ organizationId, ...seen, hits });
      } catch (error) {
        // What the store refuses for its own sake must not keep others from being looked at.
        if (!(error instanceof ApiError) || signal.aborted) throw error;
        log.warn(
          { err: error, organizationId },
          "entries of an organisation were not looked through for entities",
        );
      }
    }
    return noted;
  }

  /** Which attributes entries of the span have, by organisation: of the names of a logical field few occur anywhere. */
  async #attributeKeys(
    span: MadeSpan,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<number, ReadonlySet<string>>> {
    const rows = await readRows(
      this.#options.endpoint,
      `SELECT organization_id, arrayJoin(mapKeys(attrs)) AS key FROM logs
       WHERE id % 1024 = {instance: UInt64} AND id > {after: UInt64} AND id <= {through: UInt64}
       GROUP BY organization_id, key ORDER BY organization_id, key LIMIT ${ATTRIBUTE_KEYS_MAX} BY organization_id`,
      {
        instance: String(span.instance),
        after: String(span.after),
        through: String(span.through ?? span.after),
      },
      signal,
    );
    const keys = new Map<number, Set<string>>();
    for (const [organization, key] of rows) {
      const known = keys.get(Number(organization)) ?? new Set();
      keys.set(Number(organization), known.add(String(key)));
    }
    return keys;
  }

  async #ask(plan: Relation, organizationId: number, span: MadeSpan, signal: AbortSignal) {
    const memory = new MemoryShare(this.#memory, [organizationId]);
    try {
      const guarded = guardPlan(plan, {
        organizationId,
        timeRange: { from: null, to: null },
        made: { are: "in", spans: [span] },
        maxRows: SEAL_MAX_ENTRIES,
        budget: COUNTING_BUDGET,
      });
      const caller = { organizationId, userId: SERVER_USER_ID, signal, memory };
      return (await this.#options.runner.run("seal", emit(guarded), caller)).rows;
    } finally {
      memory.close();
    }
  }
}

/**
 * The revision tells rows apart that would otherwise be one: an indicator is looked for in those before its own, and by seals in all
 * that follow, so that no entry is found twice or never.
 */
function signalsOf({ organizationId, observables, links }: Noted, revision: bigint): Signal[] {
  const signals: Signal[] = [];
  const add = (kind: "observable" | "edge", key: bigint, group: string, seen: Sighted): void => {
    const { n, firstMs, lastMs, sampleId } = seen;
    const bucketMs = Math.floor(lastMs / DAY_MS) * DAY_MS;
    const valueHash = kind === "observable" ? revision : 0n;
    signals.push({
      organizationId,
      kind,
      key,
      bucketMs,
      n,
      lastId: sampleId,
      group,
      valueHash,
      times: { firstMs, lastMs },
    });
  };
  for (const seen of observables) {
    const { type, value } = seen.indicator;
    const label = observableLabel(type, value, seen.where);
    // A domain is found under each that it lies in.
    const values = type === "domain" ? domainAndParents(value) : [value];
    for (const each of values) add("observable", observableKey(type, each), label, seen);
  }
  for (const seen of links) {
    add("edge", edgesKey(seen.from), edgeLabel(seen.kind, "out", seen.from, seen.to), seen);
    add("edge", edgesKey(seen.to), edgeLabel(seen.kind, "in", seen.to, seen.from), seen);
  }
  return signals;
}

interface Sighted {
  readonly n: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly sampleId: bigint;
}

import type { Sql } from "postgres";
import { mapInSlices } from "../../concurrency/thread-turns.ts";
import { BackgroundWork } from "../../jobs/background-work.ts";
import { takeTurn } from "../../jobs/claims/turns.ts";
import type { Logger } from "../../log.ts";
import { readRows } from "../../rules/seal/read-rows.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import { ENTITY_TYPES, type EntityType } from "../entity-key.ts";
import { labelParts, observableKey } from "../signal-labels.ts";
import { addHits, type IndicatorHit } from "./indicator-store.ts";
import { domainAndParents, type IndicatorType } from "./indicator-value.ts";
import { networkAddress } from "./ip-network.ts";
import {
  HUNT_EVERY_MS,
  HUNT_MAX_HITS,
  HUNT_MAX_INDICATORS,
  HUNT_MAX_RANGES,
  HUNT_STOP_MS,
  TELL_AGAIN_MS,
} from "./limits.ts";
import { allowListOf, isTold } from "./match-indicators.ts";

interface RetroHuntOptions {
  readonly sql: Sql;
  readonly endpoint: ClickHouseEndpoint;
  /** Rings when hits are to be told. */
  readonly onHits: () => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
  /** Of one step; for tests. */
  readonly bounds?: { readonly indicators: number; readonly hits: number };
}

type Find = IndicatorHit & { readonly indicator: HuntedIndicator };

interface DueBatch {
  readonly id: number;
  readonly organizationId: number;
  readonly revision: string;
  readonly through: string;
}

interface HuntedIndicator {
  readonly id: number;
  readonly type: IndicatorType;
  readonly value: string;
  readonly prefixBits: number | null;
  readonly feedId: number | null;
}

const BOUNDS = { indicators: HUNT_MAX_INDICATORS, hits: HUNT_MAX_HITS };
const TURN = "ioc-retro-hunt";
const COLUMNS =
  "label, sum(n), min(first_ms), max(last_ms), toString(max(last_id)) FROM signals WHERE organization_id = {organization: UInt32} AND kind = 'observable' AND value_hash < {revision: UInt64}";

/**
 * Looks for new indicators in what seals have found before they looked for them: once, some at a time, each step with its hits and
 * how far it is in one transaction.
 */
export class RetroHunt extends BackgroundWork {
  readonly #options: RetroHuntOptions;
  readonly #bounds: typeof BOUNDS;

  constructor(options: RetroHuntOptions) {
    super({
      pollMs: HUNT_EVERY_MS,
      failure: "new indicators could not be looked for in what was found before; they will be",
      stopMs: HUNT_STOP_MS,
      log: options.log,
    });
    this.#options = options;
    this.#bounds = options.bounds ?? BOUNDS;
  }

  /** True when there is more. */
  async workOnce(signal: AbortSignal): Promise<boolean> {
    const { sql } = this.#options;
    const isMore = await takeTurn(sql, TURN, async () => {
      // A seal that began before the indicators came does not look for them; what it finds must be there first.
      const [due] = await askPostgres(
        () => sql<DueBatch[]>`
          SELECT id::integer, organization_id AS "organizationId", from_revision::text AS revision,
                 hunted_through::text AS through
          FROM ioc_batches b
          WHERE NOT hunted AND from_revision IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM ingest_streams s WHERE s.intent_revision < b.from_revision)
          ORDER BY id LIMIT 1`,
      );
      if (due === undefined) return false;
      await this.#step(due, signal);
      return true;
    });
    return isMore ?? false;
  }

  async #step(batch: DueBatch, signal: AbortSignal): Promise<void> {
    const { sql, now, onHits } = this.#options;
    const { organizationId } = batch;
    const nowMs = now();
    const due = upToRanges(
      await askPostgres(
        () => sql<HuntedIndicator[]>`
          SELECT id::integer, type, value, prefix_bits::integer AS "prefixBits", feed_id::integer AS "feedId"
          FROM iocs WHERE batch_id = ${batch.id} AND id > ${batch.through} AND organization_id = ${organizationId}
            AND (expires_at IS NULL OR expires_at > ${new Date(nowMs)})
          ORDER BY id LIMIT ${this.#bounds.indicators}`,
      ),
    );
    const { searched, finds } = await this.#findSome(batch, due, signal);
    const last = searched.at(-1);
    const allowed = await allowListOf(sql, organizationId);
    const hits = finds.filter(({ indicator, found }) => !allowed({ type: indicator.type, value: found }));
    const isNoted = await askPostgres(() =>
      sql.begin(async (tx) => {
        const advanced = await tx`
          UPDATE ioc_batches
          SET hunted_through = ${last?.id ?? batch.through}, hunted = ${last === undefined}
          WHERE id = ${batch.id} AND NOT hunted AND hunted_through = ${batch.through}`;
        if (advanced.count === 0) return false;
        await addHits(tx, organizationId, hits, { nowMs, againMs: TELL_AGAIN_MS });
        return true;
      }),
    );
    if (isNoted && hits.length > 0) onHits();
  }

  /** The first of the indicators, as many as have no more finds together than one step writes down. */
  async #findSome(batch: DueBatch, due: readonly HuntedIndicator[], signal: AbortSignal) {
    let searched = due;
    for (;;) {
      const finds = await this.#find(batch, searched, signal);
      if (finds.length <= this.#bounds.hits || searched.length <= 1)
        return { searched, finds: finds.slice(0, this.#bounds.hits) };
      searched = searched.slice(0, Math.ceil(searched.length / 2));
    }
  }

  async #find(batch: DueBatch, indicators: readonly HuntedIndicator[], signal: AbortSignal): Promise<Find[]> {
    const most = `LIMIT ${this.#bounds.hits + 1}`;
    const single = indicators.filter(({ prefixBits }) => prefixBits === null);
    const ranges = indicators.filter(({ prefixBits }) => prefixBits !== null);
    const parameters = { organization: String(batch.organizationId), revision: batch.revision };
    const found: Find[] = [];
    if (single.length > 0) {
      const byKey = new Map(
        await mapInSlices(
          single,
          (indicator) => [observableKey(indicator.type, indicator.value), indicator] as const,
        ),
      );
      const rows = await readRows(
        this.#options.endpoint,
        `SELECT toString(key), ${COLUMNS} AND key IN (SELECT key FROM looked_for) GROUP BY key, label ${most}`,
        parameters,
        signal,
        {
          name: "looked_for",
          structure: "key UInt64",
          rows: new Uint8Array(BigUint64Array.from(byKey.keys()).buffer),
        },
      );
      for (const [key, label, ...seen] of rows) {
        const indicator = byKey.get(BigInt(String(key)));
        if (indicator !== undefined && isOf(indicator, String(label)))
          found.push(hitOf(indicator, String(label), seen));
      }
    }
    if (ranges.length > 0) {
      const rows = await readRows(
        this.#options.endpoint,
        `SELECT ${COLUMNS} AND startsWith(label, 'ip\\t')
           AND arrayExists(r -> isIPAddressInRange(splitByChar('\\t', label)[2], r), {ranges: Array(String)})
         GROUP BY label ${most}`,
        { ...parameters, ranges: `[${ranges.map(({ value }) => `'${value}'`).join()}]` },
        signal,
      );
      for (const [label, ...seen] of rows) {
        const [, address = ""] = labelParts(String(label));
        for (const indicator of ranges)
          if (isInside(address, indicator)) found.push(hitOf(indicator, String(label), seen));
      }
    }
    return found;
  }
}

/** The first of them, with no more ranges than one statement compares. */
function upToRanges(indicators: readonly HuntedIndicator[]): readonly HuntedIndicator[] {
  const places = indicators.flatMap(({ prefixBits }, i) => (prefixBits === null ? [] : [i]));
  return indicators.slice(0, places[HUNT_MAX_RANGES] ?? indicators.length);
}

/** Two values may have one key. */
function isOf({ type, value }: HuntedIndicator, label: string): boolean {
  const [foundType, found = ""] = labelParts(label);
  return foundType === type && (type === "domain" ? domainAndParents(found) : [found]).includes(value);
}

function isInside(address: string, { value, prefixBits }: HuntedIndicator): boolean {
  if (prefixBits === null || address.includes(":") !== value.includes(":")) return false;
  return `${networkAddress(address, prefixBits)}/${prefixBits}` === value && isTold(address, prefixBits);
}

function hitOf(
  indicator: HuntedIndicator,
  label: string,
  [n, firstMs, lastMs, sampleId]: readonly unknown[],
) {
  const [, found = "", entityType = "", entityKey = ""] = labelParts(label);
  return {
    indicator,
    indicatorId: indicator.id,
    feedId: indicator.feedId,
    entityType: entityTypeOf(entityType),
    entityKey,
    found,
    n: Number(n),
    firstMs: Number(firstMs),
    lastMs: Number(lastMs),
    sampleId: String(sampleId),
  };
}

function entityTypeOf(text: string): EntityType {
  const type = ENTITY_TYPES.find((candidate) => candidate === text);
  if (type === undefined) throw new Error(`no type of entities: ${text}`);
  return type;
}

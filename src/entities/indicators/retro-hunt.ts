import type { Fragment, Sql } from "postgres";
import { mapInSlices } from "../../concurrency/thread-turns.ts";
import { BackgroundWork } from "../../jobs/background-work.ts";
import { takeTurn } from "../../jobs/claims/turns.ts";
import { whenDue } from "../../jobs/due-watch.ts";
import type { Logger } from "../../log.ts";
import { readRows } from "../../rules/seal/read-rows.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import { ENTITY_TYPES, type EntityType } from "../entity-key.ts";
import { labelParts, observableKey } from "../signal-labels.ts";
import { addHits, type IndicatorHit } from "./indicator-store.ts";
import { domainAndParents, type IndicatorType } from "./indicator-value.ts";
import { addressBytes } from "./ip-network.ts";
import { HUNT_EVERY_MS, HUNT_MAX_HITS, HUNT_MAX_INDICATORS, HUNT_STOP_MS, TELL_AGAIN_MS } from "./limits.ts";
import { allowListOf, isTold, rangesAround } from "./match-indicators.ts";

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
  /** Its indicators are those behind the one up to the other. */
  readonly through: string;
  readonly last: string;
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
/** Of an IPv4 address that is written as IPv6. */
const IPV4_BEFORE_BITS = 96;
const COLUMNS =
  "label, sum(n), min(first_ms), max(last_ms), toString(max(last_id)) FROM signals WHERE organization_id = {organization: UInt32} AND kind = 'observable' AND value_hash < {revision: UInt64}";

function isToBeHunted(sql: Sql): Fragment {
  return sql`NOT hunted AND from_revision IS NOT NULL`;
}

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
      watch: whenDue(
        options.sql,
        (sql) => sql`EXISTS (SELECT 1 FROM ioc_batches WHERE ${isToBeHunted(sql)})`,
      ),
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
                 hunted_through::text AS through, coalesce(last_ioc_id, 9223372036854775807)::text AS last
          FROM ioc_batches b
          WHERE ${isToBeHunted(sql)}
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
    const due = await askPostgres(
      () => sql<HuntedIndicator[]>`
          SELECT id::integer, type, value, prefix_bits::integer AS "prefixBits", feed_id::integer AS "feedId"
          FROM iocs WHERE organization_id = ${organizationId} AND id > ${batch.through} AND id <= ${batch.last}
            AND (expires_at IS NULL OR expires_at > ${new Date(nowMs)})
          ORDER BY id LIMIT ${this.#bounds.indicators}`,
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
      const { bits, networks } = await networksOf(ranges);
      // One pass for however many: of each address the network of each length of prefix is looked up among them.
      const rows = await readRows(
        this.#options.endpoint,
        `SELECT ${COLUMNS} AND startsWith(label, 'ip\\t')
           AND arrayExists(b -> (b, IPv6CIDRToRange(toIPv6OrDefault(splitByChar('\\t', label)[2]), b).1)
                                  IN (SELECT bits, network FROM looked_for), {bits: Array(UInt8)})
         GROUP BY label ${most}`,
        { ...parameters, bits: `[${bits.join()}]` },
        signal,
        { name: "looked_for", structure: "bits UInt8, network IPv6", rows: networks },
      );
      const byValue = new Map(ranges.map((range) => [range.value, range]));
      const prefixes = [...new Set(ranges.flatMap(({ prefixBits }) => prefixBits ?? []))];
      for (const [label, ...seen] of rows) {
        const [, address = ""] = labelParts(String(label));
        for (const range of rangesAround(address, prefixes)) {
          const indicator = byValue.get(range);
          const prefixBits = indicator?.prefixBits ?? null;
          if (indicator !== undefined && prefixBits !== null && isTold(address, prefixBits))
            found.push(hitOf(indicator, String(label), seen));
        }
      }
    }
    return found;
  }
}

/**
 * Ranges as rows for the store, each a length of prefix and a first address, and which lengths there are: all as of IPv6, in which IPv4
 * addresses have 96 bits more before them.
 */
async function networksOf(ranges: readonly HuntedIndicator[]) {
  const networks = new Uint8Array(17 * ranges.length);
  const lengths = await mapInSlices(
    ranges.map((range, place) => ({ range, place })),
    ({ range: { value, prefixBits }, place }) => {
      const [address = ""] = value.split("/");
      const bits = (prefixBits ?? 0) + (address.includes(":") ? 0 : IPV4_BEFORE_BITS);
      networks[17 * place] = bits;
      networks.set(addressBytes(address), 17 * place + 1);
      return bits;
    },
  );
  return { bits: [...new Set(lengths)], networks };
}

/** Two values may have one key. */
function isOf({ type, value }: HuntedIndicator, label: string): boolean {
  const [foundType, found = ""] = labelParts(label);
  return foundType === type && (type === "domain" ? domainAndParents(found) : [found]).includes(value);
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

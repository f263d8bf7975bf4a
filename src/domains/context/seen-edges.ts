import { ENTITY_TYPES, type EntityType } from "../../entities/entity-key.ts";
import { type EntityName, edgesKey, labelParts, SEEN_EDGES } from "../../entities/signal-labels.ts";
import { readRows, textsOfParameter, textsParameter } from "../../rules/seal/read-rows.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import type { Neighbor } from "./types.ts";

export interface NeighborFilter {
  readonly limit: number;
  readonly type: EntityType | null;
  /** Milliseconds since 1970, the end excluded; null for all that was before, or comes after. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

export interface Edge {
  readonly kind: Neighbor["kind"];
  readonly direction: Neighbor["direction"];
  readonly type: EntityType;
  readonly key: string;
  readonly n: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly sampleId: string | null;
}

/** What entries say: how many edges lead to entities of each type, and those that were seen last. */
interface SeenEdges {
  readonly byType: readonly { readonly type: EntityType; readonly n: number }[];
  readonly latest: readonly Edge[];
}

const DAY_MS = 86_400_000;
/** No later moment fits into the buckets of the log store. */
const BUCKET_MAX_MS = Date.parse("2200-01-01T00:00:00Z");
/** Rows for each edge of the answer that are looked at first: an edge has one for each day, and for each seal of which no merge came yet. */
const ROWS_EACH = 16;

/**
 * Reads what entries say of an entity and its other names, day by day. An entity may have hundreds of thousands of edges: they are
 * counted and put in order by numbers alone, and what stands in them is read of those that the answer shows.
 */
export async function seenEdges(
  endpoint: ClickHouseEndpoint,
  organizationId: number,
  names: readonly EntityName[],
  filter: NeighborFilter,
  signal: AbortSignal,
): Promise<SeenEdges> {
  const { limit, type } = filter;
  const time = timeConditions(filter);
  // The table is in the order of the hashes of names, so that only what is shown is read where an edge has one name.
  const edge = names.length === 1 ? "group_hash" : "edge";
  // Two entities may have one key in the log store; each has a hash of its own.
  const rows = `
    FROM signals
    WHERE organization_id = {organization: UInt32} AND kind = 'edge' AND key IN {keys: Array(UInt64)}
      AND has(arrayMap((type, key) -> sipHash64(type, key), ${textsOfParameter("types")}, ${textsOfParameter("names")}), self)
      ${time.conditions}`;
  const asked = type === null ? rows : `${rows} AND other_type = {type: String}`;
  const parameters = {
    organization: String(organizationId),
    keys: `[${names.map((name) => edgesKey(name)).join()}]`,
    types: textsParameter(names.map((name) => name.type)),
    names: textsParameter(names.map((name) => name.key)),
    ...time.parameters,
    ...(type !== null && { type }),
  };
  const ask = (statement: string) => readRows(endpoint, statement, parameters, signal);
  const latestAmong = (from: string) =>
    ask(
      `SELECT toString(${edge}), any(label), sum(n), min(first_ms), max(last_ms) AS last, toString(max(last_id))
       ${asked} AND ${edge} IN (SELECT ${edge} FROM (${from}) GROUP BY ${edge} ORDER BY max(last_ms) DESC, ${edge} LIMIT ${limit})
       GROUP BY ${edge} ORDER BY last DESC, ${edge}`,
    );
  const [counts, ofLatestRows] = await Promise.all([
    ask(`SELECT other_type, uniqExact(${edge}) ${rows} GROUP BY other_type`),
    latestAmong(`SELECT ${edge}, last_ms ${asked} ORDER BY last_ms DESC LIMIT ${limit * ROWS_EACH}`),
  ]);
  const byType = counts.flatMap(countOf);
  const most = byType.reduce((sum, each) => sum + (type === null || each.type === type ? each.n : 0), 0);
  // Of edges with very many rows the latest rows may be of too few.
  const isEnough = ofLatestRows.length >= Math.min(limit, most);
  const latest = isEnough ? ofLatestRows : await latestAmong(`SELECT ${edge}, last_ms ${asked}`);
  return { byType, latest: latest.flatMap(edgeOf) };
}

/** None where no time is asked for, so that nothing is read of it. */
function timeConditions({ fromMs, toMs }: NeighborFilter) {
  const conditions: string[] = [];
  const parameters: Record<string, string> = {};
  if (fromMs !== null) {
    conditions.push("AND bucket >= fromUnixTimestamp64Milli({fromDay: Int64}) AND last_ms >= {from: Int64}");
    parameters.from = String(fromMs);
    parameters.fromDay = String(Math.floor(Math.min(fromMs, BUCKET_MAX_MS) / DAY_MS) * DAY_MS);
  }
  if (toMs !== null) {
    conditions.push("AND first_ms < {to: Int64}");
    parameters.to = String(toMs);
  }
  return { conditions: conditions.join(" "), parameters };
}

function countOf([text, n]: readonly unknown[]) {
  const type = typeOf(text);
  return type === null ? [] : [{ type, n: Number(n) }];
}

function edgeOf([_edge, label, n, firstMs, lastMs, sampleId]: readonly unknown[]): Edge[] {
  const [kindText, direction, , , otherType, key = ""] = labelParts(String(label));
  const kind = SEEN_EDGES.find((candidate) => candidate === kindText);
  const type = typeOf(otherType);
  if (kind === undefined || type === null) return [];
  return [
    {
      ...{ kind, type, key, n: Number(n), sampleId: String(sampleId) },
      direction: direction === "out" ? "out" : "in",
      ...{ firstMs: Number(firstMs), lastMs: Number(lastMs) },
    },
  ];
}

function typeOf(text: unknown): EntityType | null {
  return ENTITY_TYPES.find((candidate) => candidate === text) ?? null;
}

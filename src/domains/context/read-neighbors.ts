import type { Sql, TransactionSql } from "postgres";
import { ENTITY_TYPES, type EntityType } from "../../entities/entity-key.ts";
import { findEntities, readWithAliases, type StoredEntity } from "../../entities/entity-store.ts";
import { edgesKey, labelParts, SEEN_EDGES } from "../../entities/signal-labels.ts";
import { ApiError } from "../../errors.ts";
import { readRows, textsOfParameter, textsParameter } from "../../rules/seal/read-rows.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { LINKS_MAX, NEIGHBORS_MAX } from "./limits.ts";
import type { Neighbor } from "./types.ts";

interface NeighborFilter {
  readonly limit: number;
  readonly type: EntityType | null;
  /** Milliseconds since 1970; the end excluded. */
  readonly fromMs: number;
  readonly toMs: number;
}

interface Edge {
  readonly kind: Neighbor["kind"];
  readonly direction: Neighbor["direction"];
  readonly type: EntityType;
  readonly key: string;
  readonly n: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly sampleId: string | null;
}

const DAY_MS = 86_400_000;
/** No later moment fits into the buckets of the log store. */
const BUCKET_MAX_MS = Date.parse("2200-01-01T00:00:00Z");

/** What has to do with an entity, or with what is another name of it, last seen first. Throws NOT_FOUND. */
export async function readNeighbors(
  { sql, endpoint }: { readonly sql: Sql; readonly endpoint: ClickHouseEndpoint },
  organizationId: number,
  id: number,
  filter: NeighborFilter,
  signal: AbortSignal,
) {
  const { names, known } = await askPostgres(() =>
    inOrganization(sql, organizationId, async (tx) => {
      const [self, ...aliases] = await readWithAliases(tx, organizationId, id);
      if (self === undefined || self.id !== id) throw new ApiError("NOT_FOUND", "No such entity.");
      const entities = [self, ...aliases];
      return {
        names: entities,
        known: [
          ...(await linksOf(tx, organizationId, entities)),
          ...(await hitsOf(tx, organizationId, entities)),
        ],
      };
    }),
  );
  const seen = await seenEdges(endpoint, organizationId, names, filter, signal);
  const inTime = known.filter(({ firstMs, lastMs }) => lastMs >= filter.fromMs && firstMs < filter.toMs);
  const isAsked = ({ type }: { readonly type: EntityType }): boolean =>
    filter.type === null || type === filter.type;
  const linked = together(inTime).filter(isAsked);
  const seenTypes = seen.filter(isAsked);
  const listed = [...linked, ...seenTypes.flatMap(({ latest }) => latest)]
    .toSorted((a, b) => b.lastMs - a.lastMs)
    .slice(0, filter.limit);
  const entities = await askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => findEntities(tx, organizationId, listed)),
  );
  const byName = new Map(entities.map((entity) => [`${entity.type}\t${entity.key}`, entity]));
  const byType = new Map<EntityType, number>();
  for (const { type, n } of [...linked.map(({ type }) => ({ type, n: 1 })), ...seenTypes])
    byType.set(type, (byType.get(type) ?? 0) + n);
  return {
    items: listed.map((edge) => neighborOf(edge, byName.get(`${edge.type}\t${edge.key}`))),
    total: [...byType.values()].reduce((sum, n) => sum + n, 0),
    byType: Object.fromEntries(byType),
  };
}

function neighborOf(
  { kind, direction, type, key, n, firstMs, lastMs, sampleId }: Edge,
  known: StoredEntity | undefined,
): Neighbor {
  return {
    kind,
    direction,
    entity: { id: known?.id ?? null, type, key, name: known?.name ?? key },
    count: n,
    firstSeen: new Date(firstMs).toISOString(),
    lastSeen: new Date(lastMs).toISOString(),
    sampleEntryId: sampleId,
  };
}

/** Of what entries say, how many edges lead to entities of a type, and those that were seen last. */
interface SeenOfType {
  readonly type: EntityType;
  readonly n: number;
  readonly latest: readonly Edge[];
}

/** What entries say, day by day. All edges are counted where they are stored, and only those that may be listed are sent. */
async function seenEdges(
  endpoint: ClickHouseEndpoint,
  organizationId: number,
  names: readonly StoredEntity[],
  { fromMs, toMs }: NeighborFilter,
  signal: AbortSignal,
): Promise<SeenOfType[]> {
  // Of an entity with other names, an edge is the same under each of them: its own end is left empty.
  const edge =
    names.length === 1
      ? "label"
      : "arrayStringConcat(arrayMap((part, i) -> if(i IN (3, 4), '', part), splitByChar('\\t', label) AS parts, arrayEnumerate(parts)), '\\t')";
  const rows = await readRows(
    endpoint,
    `SELECT type, count(), groupArraySorted(${NEIGHBORS_MAX})((-last, edge, seen, first, sample)) FROM (
       SELECT ${edge} AS edge, splitByChar('\\t', edge)[5] AS type, sum(n) AS seen, min(first_ms) AS first, max(last_ms) AS last,
         toString(max(last_id)) AS sample
       FROM signals
       WHERE organization_id = {organization: UInt32} AND kind = 'edge' AND key IN {keys: Array(UInt64)}
         AND bucket >= fromUnixTimestamp64Milli({fromDay: Int64})
         AND last_ms >= {from: Int64} AND first_ms < {to: Int64}
         AND multiSearchAny(label, ${textsOfParameter("own")})
       GROUP BY edge)
     GROUP BY type`,
    {
      organization: String(organizationId),
      keys: `[${names.map((name) => edgesKey(name)).join()}]`,
      // Two entities may have one key in the log store; only the own end of a label has a tab behind it.
      own: textsParameter(names.map(({ type, key }) => `\t${type}\t${key}\t`)),
      fromDay: String(Math.floor(Math.min(fromMs, BUCKET_MAX_MS) / DAY_MS) * DAY_MS),
      from: String(fromMs),
      to: String(toMs),
    },
    signal,
  );
  return rows.flatMap(([seenType, n, latest]) => {
    const type = ENTITY_TYPES.find((candidate) => candidate === seenType);
    if (type === undefined || !Array.isArray(latest)) return [];
    return { type, n: Number(n), latest: latest.flatMap((one) => seenEdge(type, one)) };
  });
}

function seenEdge(type: EntityType, row: unknown): Edge[] {
  if (!Array.isArray(row)) return [];
  const [negativeLastMs, label, n, firstMs, sampleId]: unknown[] = row;
  const [kindText, direction, , , , key = ""] = labelParts(String(label));
  const kind = SEEN_EDGES.find((candidate) => candidate === kindText);
  if (kind === undefined) return [];
  return [
    {
      ...{ kind, type, key, n: Number(n), sampleId: String(sampleId) },
      direction: direction === "out" ? "out" : "in",
      ...{ firstMs: Number(firstMs), lastMs: -Number(negativeLastMs) },
    },
  ];
}

interface LinkRow {
  readonly kind: "matched" | "triggered" | "evidence_of";
  readonly isOut: boolean;
  readonly type: EntityType;
  readonly key: string;
  readonly n: number;
  readonly first: Date;
  readonly last: Date;
  readonly sampleId: string | null;
}

/** What incidents are about. */
async function linksOf(
  tx: TransactionSql,
  organizationId: number,
  entities: readonly StoredEntity[],
): Promise<Edge[]> {
  const ids = entities.map(({ id }) => id);
  const rows = await tx<LinkRow[]>`
    SELECT l.kind, l.from_id = ANY(${ids}::bigint[]) AS "isOut", e.type, e.key, l.n::float8 AS n, l.first_seen AS first,
           l.last_seen AS last, l.sample_id AS "sampleId"
    FROM entity_links l
    JOIN entities e ON e.id = CASE WHEN l.from_id = ANY(${ids}::bigint[]) THEN l.to_id ELSE l.from_id END
    WHERE l.organization_id = ${organizationId}
      AND (l.from_id = ANY(${ids}::bigint[]) OR l.to_id = ANY(${ids}::bigint[]))
    ORDER BY l.last_seen DESC LIMIT ${LINKS_MAX}`;
  return rows.map(edgeOf);
}

/** Which indicators were found there, or where this one was. */
async function hitsOf(
  tx: TransactionSql,
  organizationId: number,
  entities: readonly StoredEntity[],
): Promise<Edge[]> {
  const iocIds = entities.flatMap(({ type, recordId }) =>
    type === "ioc" && recordId !== null ? [recordId] : [],
  );
  const rows = await tx<LinkRow[]>`
    SELECT 'matched' AS kind, true AS "isOut", entity_type AS type, entity_key AS key, n::float8 AS n, first_at AS first,
           last_at AS last, sample_id AS "sampleId"
    FROM ioc_hits WHERE organization_id = ${organizationId} AND ioc_id = ANY(${iocIds}::bigint[])
    UNION ALL
    SELECT 'matched', false, 'ioc', i.value, h.n::float8, h.first_at, h.last_at, h.sample_id
    FROM ioc_hits h JOIN iocs i ON i.id = h.ioc_id
    WHERE h.organization_id = ${organizationId} AND (h.entity_type, h.entity_key) IN (
      SELECT * FROM unnest(${entities.map(({ type }) => type)}::text[], ${entities.map(({ key }) => key)}::text[]))
    ORDER BY last DESC LIMIT ${LINKS_MAX}`;
  return rows.map(edgeOf);
}

function edgeOf({ kind, isOut, type, key, n, first, last, sampleId }: LinkRow): Edge {
  const direction = isOut ? "out" : "in";
  return { kind, direction, type, key, n, firstMs: first.getTime(), lastMs: last.getTime(), sampleId };
}

/** What is known of the same two under several names is one. */
function together(edges: readonly Edge[]): Edge[] {
  const byName = Map.groupBy(edges, ({ kind, direction, type, key }) =>
    [kind, direction, type, key].join("\t"),
  );
  return [...byName.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    return {
      ...first,
      n: others.reduce((sum, { n }) => sum + n, first.n),
      firstMs: others.reduce((least, { firstMs }) => Math.min(least, firstMs), first.firstMs),
      lastMs: others.reduce((greatest, { lastMs }) => Math.max(greatest, lastMs), first.lastMs),
    };
  });
}

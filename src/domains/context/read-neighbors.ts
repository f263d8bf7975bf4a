import type { Sql, TransactionSql } from "postgres";
import type { EntityType } from "../../entities/entity-key.ts";
import { findEntities, readWithAliases, type StoredEntity } from "../../entities/entity-store.ts";
import { ApiError } from "../../errors.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { LINKS_MAX } from "./limits.ts";
import { type Edge, type NeighborFilter, seenEdges } from "./seen-edges.ts";
import type { Neighbor } from "./types.ts";

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
  const inTime = known.filter(
    ({ firstMs, lastMs }) =>
      lastMs >= (filter.fromMs ?? Number.NEGATIVE_INFINITY) &&
      firstMs < (filter.toMs ?? Number.POSITIVE_INFINITY),
  );
  const isAsked = ({ type }: { readonly type: EntityType }): boolean =>
    filter.type === null || type === filter.type;
  const linked = together(inTime).filter(isAsked);
  const seenTypes = seen.byType.filter(isAsked);
  const listed = [...linked, ...seen.latest].toSorted((a, b) => b.lastMs - a.lastMs).slice(0, filter.limit);
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
    FROM ioc_hits h JOIN iocs i ON i.organization_id = h.organization_id AND i.id = h.ioc_id
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

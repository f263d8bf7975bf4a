import type { Sql, TransactionSql } from "postgres";
import type { EntityType } from "./entity-key.ts";
import { OBSERVED_MAX, SEEN_AGAIN_MS } from "./limits.ts";

/** The statements about the registry of entities. Each names the organisation, also where row-level security does not. */

/** Something that entries or records are about; times are milliseconds since 1970. */
export interface SeenEntity {
  readonly type: EntityType;
  /** As `entityKey` writes it. */
  readonly key: string;
  readonly name: string;
  readonly firstMs: number;
  readonly lastMs: number;
}

export interface StoredEntity {
  readonly id: number;
  readonly type: EntityType;
  readonly key: string;
  readonly name: string;
  readonly recordId: number | null;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  readonly canonicalId: number | null;
}

/** Names the entity of a record, which says more of it than entries do. */
export async function putRecordEntity(
  tx: TransactionSql,
  organizationId: number,
  { type, key, name, recordId }: { type: EntityType; key: string; name: string; recordId: number },
  atMs: number,
): Promise<number> {
  const at = new Date(atMs);
  const [row] = await tx<{ id: number }[]>`
    INSERT INTO entities (organization_id, type, key, name, record_id, first_seen, last_seen)
    VALUES (${organizationId}, ${type}, ${key}, ${name}, ${recordId}, ${at}, ${at})
    ON CONFLICT (organization_id, type, key)
    DO UPDATE SET name = excluded.name, record_id = excluded.record_id, canonical_id = NULL
    RETURNING id::integer`;
  if (row === undefined) throw new Error("an entity was not written");
  return row.id;
}

/** The entity of a record, with its other names. */
export interface RecordEntity {
  readonly type: EntityType;
  readonly key: string;
  readonly name: string;
  readonly recordId: number;
  readonly aliases: readonly { readonly type: EntityType; readonly key: string }[];
}

/**
 * Names the entities of records, which say more of them than entries do, and their other names in place of those they had; what is
 * a record itself is nobody's other name. Of several with one key, or one other name, the last has it.
 */
export async function putRecordEntities(
  tx: TransactionSql,
  organizationId: number,
  entities: readonly RecordEntity[],
  atMs: number,
): Promise<void> {
  const at = new Date(atMs);
  const own = inOrder(entities);
  const rows = await tx<{ id: number; type: EntityType; key: string }[]>`
    INSERT INTO entities (organization_id, type, key, name, record_id, first_seen, last_seen)
    SELECT ${organizationId}::integer, type, key, name, record_id, ${at}::timestamptz, ${at}::timestamptz
    FROM unnest(${own.map(({ type }) => type)}::text[], ${own.map(({ key }) => key)}::text[],
                ${own.map(({ name }) => name)}::text[], ${own.map(({ recordId }) => recordId)}::bigint[])
      AS given (type, key, name, record_id)
    ON CONFLICT (organization_id, type, key)
    DO UPDATE SET name = excluded.name, record_id = excluded.record_id, canonical_id = NULL
    RETURNING id::integer, type, key`;
  const ids = new Map(rows.map((row) => [keyOf(row), row.id]));
  await tx`
    UPDATE entities SET canonical_id = NULL
    WHERE organization_id = ${organizationId} AND canonical_id = ANY(${[...ids.values()]}::bigint[])`;
  const named = own.flatMap((entity) =>
    entity.aliases.map((alias) => ({ ...alias, canonicalId: ids.get(keyOf(entity)) ?? null })),
  );
  const others = inOrder(named);
  if (others.length === 0) return;
  await tx`
    INSERT INTO entities AS known (organization_id, type, key, name, first_seen, last_seen, canonical_id)
    SELECT ${organizationId}::integer, type, key, key, ${at}::timestamptz, ${at}::timestamptz, canonical_id
    FROM unnest(${others.map(({ type }) => type)}::text[], ${others.map(({ key }) => key)}::text[],
                ${others.map(({ canonicalId }) => canonicalId)}::bigint[]) AS given (type, key, canonical_id)
    ON CONFLICT (organization_id, type, key) DO UPDATE SET canonical_id = excluded.canonical_id
    WHERE known.record_id IS NULL`;
}

interface Keyed {
  readonly type: EntityType;
  readonly key: string;
}

/** One of each key, the last, in the order of keys, in which `noteSeen` goes too: so the two never wait for each other in a circle. */
function inOrder<T extends Keyed>(items: readonly T[]): T[] {
  const last = new Map(items.map((item) => [keyOf(item), item]));
  return [...last.keys()].toSorted((a, b) => (a < b ? -1 : 1)).flatMap((key) => last.get(key) ?? []);
}

function keyOf({ type, key }: Keyed): string {
  return `${type}\0${key}`;
}

/** The record is gone; what entries say of the entity begins anew. */
export async function removeRecordEntity(
  tx: TransactionSql,
  organizationId: number,
  type: EntityType,
  recordId: number,
): Promise<void> {
  await tx`
    DELETE FROM entities WHERE organization_id = ${organizationId} AND type = ${type} AND record_id = ${recordId}`;
}

/** Writes down what was seen, in the order of keys, so that transactions which see the same wait for each other in one direction. */
export async function noteSeen(
  tx: TransactionSql,
  organizationId: number,
  seen: readonly SeenEntity[],
): Promise<void> {
  if (seen.length === 0) return;
  const rows = seen.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  await tx`
    INSERT INTO entities AS known (organization_id, type, key, name, first_seen, last_seen)
    SELECT ${organizationId}::integer, given.type, given.key, given.name, to_timestamp(given.first_ms / 1000.0),
           to_timestamp(given.last_ms / 1000.0)
    FROM unnest(${rows.map(({ type }) => type)}::text[], ${rows.map(({ key }) => key)}::text[],
                ${rows.map(({ name }) => name)}::text[], ${rows.map(({ firstMs }) => firstMs)}::double precision[],
                ${rows.map(({ lastMs }) => lastMs)}::double precision[])
      AS given (type, key, name, first_ms, last_ms)
    WHERE EXISTS (SELECT 1 FROM organizations WHERE id = ${organizationId})
    ON CONFLICT (organization_id, type, key) DO UPDATE
    SET first_seen = least(known.first_seen, excluded.first_seen), last_seen = greatest(known.last_seen, excluded.last_seen)
    WHERE excluded.first_seen < known.first_seen
       OR excluded.last_seen > known.last_seen + make_interval(secs => ${SEEN_AGAIN_MS / 1000})`;
}

interface EntityRow {
  readonly id: string;
  readonly type: EntityType;
  readonly key: string;
  readonly name: string;
  readonly record_id: string | null;
  readonly first_seen: Date;
  readonly last_seen: Date;
  readonly canonical_id: string | null;
}

function entityOf(row: EntityRow): StoredEntity {
  return {
    id: Number(row.id),
    type: row.type,
    key: row.key,
    name: row.name,
    recordId: row.record_id === null ? null : Number(row.record_id),
    firstSeen: row.first_seen,
    lastSeen: row.last_seen,
    canonicalId: row.canonical_id === null ? null : Number(row.canonical_id),
  };
}

const COLUMNS = ["id", "type", "key", "name", "record_id", "first_seen", "last_seen", "canonical_id"];

export async function findEntity(
  tx: TransactionSql,
  organizationId: number,
  type: EntityType,
  key: string,
): Promise<StoredEntity | null> {
  const [row] = await tx<EntityRow[]>`
    SELECT ${tx(COLUMNS)} FROM entities WHERE organization_id = ${organizationId} AND type = ${type} AND key = ${key}`;
  return row === undefined ? null : entityOf(row);
}

/** Those of the ids that the organisation has. */
export async function readEntities(
  tx: TransactionSql,
  organizationId: number,
  ids: readonly number[],
): Promise<StoredEntity[]> {
  const rows = await tx<EntityRow[]>`
    SELECT ${tx(COLUMNS)} FROM entities WHERE organization_id = ${organizationId} AND id = ANY(${[...ids]}::bigint[])`;
  return rows.map(entityOf);
}

/** The entity and its other names: what is known of any of them is known of it. */
export async function readWithAliases(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<StoredEntity[]> {
  const rows = await tx<EntityRow[]>`
    SELECT ${tx(COLUMNS)} FROM entities
    WHERE organization_id = ${organizationId} AND (id = ${id} OR canonical_id = ${id})
    ORDER BY id <> ${id}, id LIMIT 100`;
  return rows.map(entityOf);
}

/** Which entities of these keys there are, by type and key. */
export async function findEntities(
  tx: TransactionSql,
  organizationId: number,
  keys: readonly { readonly type: EntityType; readonly key: string }[],
): Promise<StoredEntity[]> {
  const rows = await tx<EntityRow[]>`
    SELECT ${tx(COLUMNS)} FROM entities
    WHERE organization_id = ${organizationId} AND (type, key) IN (
      SELECT given.type, given.key
      FROM unnest(${keys.map(({ type }) => type)}::text[], ${keys.map(({ key }) => key)}::text[]) AS given (type, key))`;
  return rows.map(entityOf);
}

/** Removes what was seen longest ago of those that have more of a type than is kept; what something is linked with stays. */
export async function removeOldEntities(sql: Sql, _nowMs: number, limit: number): Promise<number> {
  const full = await sql<{ organization_id: number; type: string; more: number }[]>`
    SELECT organization_id, type, (count(*) - ${OBSERVED_MAX})::integer AS more FROM entities
    WHERE record_id IS NULL GROUP BY organization_id, type HAVING count(*) > ${OBSERVED_MAX}`;
  let removed = 0;
  for (const { organization_id: organizationId, type, more } of full) {
    if (removed >= limit) break;
    const { count } = await sql`
      DELETE FROM entities WHERE id IN (
        SELECT id FROM entities e
        WHERE organization_id = ${organizationId} AND type = ${type} AND record_id IS NULL AND canonical_id IS NULL
          AND NOT EXISTS (SELECT 1 FROM entity_links l WHERE l.from_id = e.id OR l.to_id = e.id)
        ORDER BY last_seen LIMIT ${Math.min(more, limit - removed)} FOR UPDATE SKIP LOCKED)`;
    removed += count;
  }
  return removed;
}

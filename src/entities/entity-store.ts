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

/** Other names of an entity, in place of those it had; what is a record itself is nobody's other name. */
export async function putAliases(
  tx: TransactionSql,
  organizationId: number,
  canonicalId: number,
  aliases: readonly { readonly type: EntityType; readonly key: string }[],
  atMs: number,
): Promise<void> {
  await tx`
    UPDATE entities SET canonical_id = NULL
    WHERE organization_id = ${organizationId} AND canonical_id = ${canonicalId}`;
  const at = new Date(atMs);
  for (const { type, key } of aliases)
    await tx`
      INSERT INTO entities AS known (organization_id, type, key, name, first_seen, last_seen, canonical_id)
      VALUES (${organizationId}, ${type}, ${key}, ${key}, ${at}, ${at}, ${canonicalId})
      ON CONFLICT (organization_id, type, key) DO UPDATE SET canonical_id = excluded.canonical_id
      WHERE known.record_id IS NULL`;
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
  const rows = seen.toSorted((a, b) => (`${a.type}\0${a.key}` < `${b.type}\0${b.key}` ? -1 : 1));
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

import type { PendingQuery, Row, TransactionSql } from "postgres";
import type { EntityType } from "./entity-key.ts";
import { putRecordEntity } from "./entity-store.ts";

/** What the record of an entity says of it. */
interface RecordFacts {
  readonly recordId: number;
  readonly name: string;
  /** As the record's own routes show it. */
  readonly attrs: Readonly<Record<string, unknown>>;
  /** When the record was made, or what it tells of began; milliseconds since 1970. */
  readonly sinceMs: number;
}

interface FactsRow {
  readonly id: string;
  readonly name: string;
  readonly attrs: Record<string, unknown>;
  readonly since: Date;
}

type FactsQuery = (tx: TransactionSql, organizationId: number, key: string) => PendingQuery<Row[]>;

/** By the type of the entity: the record that has the key. Types that are not here have no records. */
const RECORDS: Partial<Record<EntityType, FactsQuery>> = {
  asset: (tx, organizationId, key) => tx`
    SELECT id, coalesce(hostname, ip) AS name, created_at AS since,
      jsonb_build_object('ip', ip, 'hostname', hostname, 'owner', owner, 'criticality', criticality, 'tags', tags) AS attrs
    FROM assets WHERE organization_id = ${organizationId} AND ip = ${key}`,
  identity: (tx, organizationId, key) => tx`
    SELECT id, coalesce(display_name, principal) AS name, created_at AS since,
      jsonb_build_object('principal', principal, 'displayName', display_name, 'isInternal', is_internal, 'risk', risk,
                         'tags', tags, 'aliases', aliases) AS attrs
    FROM identities WHERE organization_id = ${organizationId} AND lower(principal) = ${key}`,
  ioc: (tx, organizationId, key) => tx`
    SELECT id, value AS name, created_at AS since,
      jsonb_build_object('type', type, 'value', value, 'severity', severity, 'confidence', confidence, 'source', source,
                         'description', description, 'hits', hits) AS attrs
    FROM iocs WHERE organization_id = ${organizationId} AND key = ioc_key(${organizationId}, ${key})`,
  monitor: (tx, organizationId, key) => tx`
    SELECT id, name, created_at AS since, jsonb_build_object('type', type) AS attrs
    FROM monitors WHERE organization_id = ${organizationId} AND id = ${key}`,
  incident: (tx, organizationId, key) => tx`
    SELECT id, title AS name, opened_at AS since,
      jsonb_build_object('status', status, 'severity', severity) AS attrs
    FROM incidents WHERE organization_id = ${organizationId} AND id = ${key}`,
  detection: (tx, organizationId, key) => tx`
    SELECT id, 'Detection ' || id AS name, started_at AS since,
      jsonb_build_object('ruleKind', rule_kind, 'ruleId', rule_id::float8, 'peak', peak) AS attrs
    FROM detections WHERE organization_id = ${organizationId} AND id = ${key}`,
  case: (tx, organizationId, key) => tx`
    SELECT id, title AS name, created_at AS since, jsonb_build_object('status', status, 'severity', severity) AS attrs
    FROM cases WHERE organization_id = ${organizationId} AND id = ${key}`,
  metric: (tx, organizationId, key) => tx`
    SELECT id, name, created_at AS since, jsonb_build_object('bucketSec', bucket_sec) AS attrs
    FROM log_metrics WHERE organization_id = ${organizationId} AND name = ${key} ORDER BY id LIMIT 1`,
};

/** Null where the organisation has no such record, or the type none. */
export async function readRecordFacts(
  tx: TransactionSql,
  organizationId: number,
  type: EntityType,
  key: string,
): Promise<RecordFacts | null> {
  const [row] = (await RECORDS[type]?.(tx, organizationId, key)) ?? [];
  if (!isFactsRow(row)) return null;
  return { recordId: Number(row.id), name: row.name, attrs: row.attrs, sinceMs: row.since.getTime() };
}

/** The id of the entity of a record, which is named now if it was not; null where there is no such record. */
export async function nameRecord(
  tx: TransactionSql,
  organizationId: number,
  type: EntityType,
  key: string,
): Promise<number | null> {
  const facts = await readRecordFacts(tx, organizationId, type, key);
  if (facts === null) return null;
  const { recordId, name, sinceMs } = facts;
  return putRecordEntity(tx, organizationId, { type, key, name: name.slice(0, 512), recordId }, sinceMs);
}

function isFactsRow(row: Row | undefined): row is FactsRow {
  return (
    row !== undefined &&
    typeof row.name === "string" &&
    row.since instanceof Date &&
    typeof row.attrs === "object"
  );
}

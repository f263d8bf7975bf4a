import type { Sql, TransactionSql } from "postgres";
import type { LibraryFunction } from "../../../query/index.ts";
import { type EntityType, entityKey } from "../../entities/entity-key.ts";
import { findEntity, readEntities, readWithAliases, type StoredEntity } from "../../entities/entity-store.ts";
import { nameRecord, readRecordFacts } from "../../entities/record-facts.ts";
import { ApiError } from "../../errors.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { RISK_MAX_TERMS } from "./limits.ts";
import { type RiskCause, riskOf } from "./risk.ts";
import type { Entity } from "./types.ts";

interface EntityReading {
  readonly sql: Sql;
  /** The JSON text of where an address is, empty where nobody knows; null without a database of places. */
  readonly placeOf: LibraryFunction | null;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Null for what nothing is known of. A record that nobody asked for yet gets its entity. */
export function lookUp(
  reading: EntityReading,
  organizationId: number,
  { type, key: text }: { readonly type: EntityType; readonly key: string },
): Promise<Entity | null> {
  return askPostgres(() =>
    inOrganization(reading.sql, organizationId, async (tx) => {
      const key = entityKey(type, text);
      if (key === null) return null;
      const known = await findEntity(tx, organizationId, type, key);
      const id = known?.id ?? (await nameRecord(tx, organizationId, type, key));
      return id === null ? null : entityOf(reading, tx, organizationId, id);
    }),
  );
}

/** Throws NOT_FOUND. */
export function readEntity(reading: EntityReading, organizationId: number, id: number): Promise<Entity> {
  return askPostgres(() =>
    inOrganization(reading.sql, organizationId, async (tx) => {
      const entity = await entityOf(reading, tx, organizationId, id);
      if (entity === null) throw new ApiError("NOT_FOUND", "No such entity.");
      return entity;
    }),
  );
}

async function entityOf(
  { placeOf, now }: EntityReading,
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<Entity | null> {
  const [self, ...aliases] = await readWithAliases(tx, organizationId, id);
  if (self === undefined || self.id !== id) return null;
  const canonicals =
    self.canonicalId === null ? [] : await readEntities(tx, organizationId, [self.canonicalId]);
  const [canonical = null] = canonicals;
  const facts = await readRecordFacts(tx, organizationId, self.type, self.key);
  const standing = facts?.attrs.criticality ?? facts?.attrs.risk ?? null;
  const causes = await causesOf(tx, organizationId, [self, ...aliases]);
  const lastSeen = Math.max(...[self, ...aliases].map((each) => each.lastSeen.getTime()));
  return {
    ...named(self),
    name: facts?.name ?? self.name,
    attrs: { ...facts?.attrs, ...(self.type === "ip" && placeOf !== null && where(placeOf(self.key, null))) },
    firstSeen: self.firstSeen.toISOString(),
    lastSeen: new Date(lastSeen).toISOString(),
    source: facts === null ? "observed" : "record",
    canonical: canonical === null ? null : named(canonical),
    aliases: aliases.map(named),
    risk: riskOf(causes, typeof standing === "string" ? standing : null, now()),
  };
}

/** The incidents that the entity, or what is another name of it, has part in. */
async function causesOf(
  tx: TransactionSql,
  organizationId: number,
  entities: readonly StoredEntity[],
): Promise<RiskCause[]> {
  const rows = await tx<(Omit<RiskCause, "atMs"> & { at: Date })[]>`
    SELECT DISTINCT i.id::integer AS "incidentId", i.title, i.severity, i.opened_at AS at
    FROM entity_links l JOIN entities e ON e.id = l.to_id AND e.type = 'incident'
    JOIN incidents i ON i.id = e.record_id AND i.organization_id = ${organizationId}
    WHERE l.organization_id = ${organizationId} AND l.from_id = ANY(${entities.map(({ id }) => id)}::bigint[])
    ORDER BY i.opened_at DESC LIMIT ${RISK_MAX_TERMS}`;
  return rows.map(({ at, ...cause }) => ({ ...cause, atMs: at.getTime() }));
}

function named({ id, type, key }: StoredEntity) {
  return { id, type, key };
}

/** Empty for an address of which nobody knows where it is. */
function where(text: string): { place?: unknown } {
  return text === "" ? {} : { place: JSON.parse(text) };
}

import type { Change } from "../changes/change.ts";
import { FIELD_SOURCES } from "../rules/fields/field-table.ts";
import { ENTITY_TYPES, type EntityType, entityKey } from "./entity-key.ts";
import { findEntities, noteSeen } from "./entity-store.ts";
import { nameRecord } from "./record-facts.ts";
import type { EntityName } from "./signal-labels.ts";

/** What is told of an incident that names whom it is about. */
interface ToldIncident {
  readonly id: number;
  readonly sourceKey: string | null;
  readonly openedAt: string;
  readonly monitorIds: readonly number[];
  readonly groupKey?: Readonly<Record<string, string | null>>;
  readonly detectionId?: number;
}

/** What something is of which a rule has the values in one of these fields. */
const TYPE_OF_FIELD: Readonly<Record<string, EntityType>> = {
  sourceAddress: "ip",
  destinationAddress: "ip",
  "auth.sourceAddress": "ip",
  userName: "identity",
  "auth.user": "identity",
  hostName: "host",
  host: "host",
  service: "service",
};

interface IncidentLink {
  readonly kind: "evidence_of" | "triggered";
  readonly from: EntityName;
}

/** Who and what an incident is about, and what made it. */
export function linksOfIncident(incident: ToldIncident): IncidentLink[] {
  const { sourceKey, monitorIds, groupKey = {}, detectionId } = incident;
  const links: (IncidentLink | null)[] = monitorIds.map((id) => linkOf("triggered", "monitor", String(id)));
  if (detectionId !== undefined) links.push(linkOf("triggered", "detection", String(detectionId)));
  for (const [field, value] of Object.entries(groupKey)) {
    const type = typeOfField(field);
    if (type !== null && value !== null) links.push(linkOf("evidence_of", type, value));
  }
  const [, type, key] = /^ioc:[0-9]+:([a-z_]+):(.*)$/s.exec(sourceKey ?? "") ?? [];
  const found = ENTITY_TYPES.find((candidate) => candidate === type);
  if (found !== undefined && key !== undefined) links.push(linkOf("evidence_of", found, key));
  return links.filter((link) => link !== null);
}

function linkOf(kind: IncidentLink["kind"], type: EntityType, text: string): IncidentLink | null {
  const key = entityKey(type, text);
  return key === null ? null : { kind, from: { type, key } };
}

function typeOfField(field: string): EntityType | null {
  const source = FIELD_SOURCES.find(({ aliases }) => aliases.some((alias) => alias === field));
  return TYPE_OF_FIELD[source?.name ?? field] ?? null;
}

/** Puts an incident that was opened or came back into the graph. Repeated, it changes nothing. */
export async function linkIncident(change: Change, incident: ToldIncident): Promise<void> {
  const { tx, organizationId } = change;
  const incidentId = await nameRecord(tx, organizationId, "incident", String(incident.id));
  if (incidentId === null) return;
  const atMs = Date.parse(incident.openedAt);
  const links = linksOfIncident(incident);
  const iocId = /^ioc:([0-9]+):/.exec(incident.sourceKey ?? "")?.[1];
  const records = links.filter(({ kind }) => kind === "triggered");
  for (const { from } of records) await nameRecord(tx, organizationId, from.type, from.key);
  const seen = links.filter(({ kind }) => kind === "evidence_of");
  await noteSeen(
    tx,
    organizationId,
    seen.map(({ from }) => ({ ...from, name: from.key, firstMs: atMs, lastMs: atMs })),
  );
  const entities = await findEntities(
    tx,
    organizationId,
    links.map(({ from }) => from),
  );
  const idOf = new Map(entities.map(({ id, type, key }) => [`${type}\t${key}`, id]));
  const given = links.flatMap(({ kind, from }) => {
    const id = idOf.get(`${from.type}\t${from.key}`);
    return id === undefined ? [] : [{ id, kind }];
  });
  if (iocId !== undefined) {
    const [ioc] = await tx<{ id: number }[]>`
      SELECT id::integer FROM entities
      WHERE organization_id = ${organizationId} AND type = 'ioc' AND record_id = ${iocId}`;
    if (ioc !== undefined) given.push({ id: ioc.id, kind: "triggered" });
  }
  const at = new Date(atMs);
  await tx`
    INSERT INTO entity_links AS known (organization_id, from_id, to_id, kind, n, first_seen, last_seen)
    SELECT DISTINCT ${organizationId}::integer, given.id, ${incidentId}::bigint, given.kind, 1, ${at}::timestamptz, ${at}::timestamptz
    FROM unnest(${given.map(({ id }) => id)}::bigint[], ${given.map(({ kind }) => kind)}::text[]) AS given (id, kind)
    ON CONFLICT (from_id, to_id, kind) DO NOTHING`;
}

import type { TransactionSql } from "postgres";
import { storableText } from "../../../storage/storable-text.ts";
import {
  GROUPS_MAX,
  GROUPS_MAX_OF_HOUR,
  PLACES_MAX_OF_GROUP,
  SAMPLES_MAX,
  SINGLE_MAX_SHARE,
} from "./limits.ts";
import type { ErrorTally, GroupTally, PlaceTally } from "./tally-errors.ts";

/** Bounds of how many groups there are; smaller ones in tests. */
export interface GroupBounds {
  readonly ofHour: number;
  readonly inAll: number;
}

const BOUNDS: GroupBounds = { ofHour: GROUPS_MAX_OF_HOUR, inAll: GROUPS_MAX };

type Organizations = ReturnType<ErrorTally["organizations"]>;

/** Keeps what a range has of each group: in the transaction that ends its seal, so that every error counts once. */
export async function noteErrors(
  tx: TransactionSql,
  organizations: Organizations,
  bounds: GroupBounds = BOUNDS,
): Promise<void> {
  // One seal after the other: what an hour has made of an organisation is asked and changed by one at a time.
  const hours = await tx<{ organization_id: number; made: number; hour: Date }[]>`
    INSERT INTO error_group_hours AS h (organization_id, hour)
    SELECT id, date_trunc('hour', now()) FROM organizations
    WHERE id = ANY(${[...organizations.keys()]}::integer[]) ORDER BY id
    ON CONFLICT (organization_id, hour) DO UPDATE SET made = h.made
    RETURNING organization_id, made, hour`;
  // An organisation that was deleted meanwhile took its groups along.
  for (const { organization_id, made, hour } of hours) {
    const tally = organizations.get(organization_id);
    if (tally === undefined) continue;
    const ids = await updateGroups(tx, organization_id, tally.groups);
    const fresh = tally.groups.filter(({ error }) => !ids.has(error.fingerprint));
    const { whole, single } =
      fresh.length === 0 ? { whole: 0, single: 0 } : await allowedGroups(tx, organization_id, made, bounds);
    // The largest come first.
    const kept = fresh.filter(({ count }, i) => i < (count > 1 ? whole : single));
    for (const [fingerprint, id] of await insertGroups(tx, organization_id, kept)) ids.set(fingerprint, id);
    await notePlaces(tx, organization_id, tally.groups, ids);
    await reopen(tx, organization_id, tally.groups, ids);
    const left = fresh.slice(kept.length).reduce((sum, { count }) => sum + count, 0);
    const other = [...tally.otherHours.values()].reduce((sum, { n }) => sum + n, left);
    if (kept.length > 0 || other > 0)
      await tx`
        UPDATE error_group_hours SET made = made + ${kept.length}, other = other + ${other}
        WHERE organization_id = ${organization_id} AND hour = ${hour}`;
  }
}

/** How many groups more there may be, and until how many they may be of errors that came once. */
async function allowedGroups(
  tx: TransactionSql,
  organizationId: number,
  made: number,
  { ofHour, inAll }: GroupBounds,
): Promise<{ readonly whole: number; readonly single: number }> {
  const [row] = await tx<{ groups: number }[]>`
    SELECT count(*)::integer AS groups FROM error_groups WHERE organization_id = ${organizationId}`;
  const left = (share: number): number =>
    Math.max(0, Math.min(Math.ceil(ofHour * share) - made, Math.ceil(inAll * share) - (row?.groups ?? 0)));
  return { whole: left(1), single: left(SINGLE_MAX_SHARE) };
}

/** Adds to the groups that there are; the ids of these by their fingerprints. */
async function updateGroups(
  tx: TransactionSql,
  organizationId: number,
  groups: readonly GroupTally[],
): Promise<Map<string, number>> {
  const rows = await tx<{ id: number; fingerprint: string }[]>`
    UPDATE error_groups g SET
      count = g.count + x.count,
      first_release = CASE WHEN g.first_release IS NULL OR (x.first_release IS NOT NULL AND x.first_seen < g.first_seen)
                           THEN coalesce(x.first_release, g.first_release) ELSE g.first_release END,
      last_release = CASE WHEN x.last_seen >= g.last_seen OR g.last_release IS NULL
                          THEN coalesce(x.last_release, g.last_release) ELSE g.last_release END,
      first_seen = least(g.first_seen, x.first_seen),
      last_seen = greatest(g.last_seen, x.last_seen),
      active_at = greatest(g.active_at, x.last_seen),
      sample_ids = (SELECT array_agg(id) FROM (SELECT DISTINCT unnest(g.sample_ids || x.sample_ids) AS id
                                               ORDER BY id DESC LIMIT ${SAMPLES_MAX}) newest)
    FROM jsonb_to_recordset(${tx.json(groups.map(rowOf))}) AS x (
      fingerprint text, count bigint, first_seen timestamptz, last_seen timestamptz,
      first_release text, last_release text, sample_ids bigint[])
    WHERE g.organization_id = ${organizationId} AND g.fingerprint = x.fingerprint
    RETURNING g.id::integer, g.fingerprint`;
  return new Map(rows.map(({ id, fingerprint }) => [fingerprint, id]));
}

async function insertGroups(
  tx: TransactionSql,
  organizationId: number,
  groups: readonly GroupTally[],
): Promise<readonly [string, number][]> {
  if (groups.length === 0) return [];
  const rows = await tx<{ id: number; fingerprint: string }[]>`
    INSERT INTO error_groups (organization_id, fingerprint, grouped_by, service, type, title, culprit, runtime, message,
      frame_keys, count, first_seen, last_seen, active_at, first_release, last_release, sample_ids)
    SELECT ${organizationId}, fingerprint, grouped_by, service, type, title, culprit, runtime, message,
      frame_keys, count, first_seen, last_seen, last_seen, first_release, last_release, sample_ids
    FROM jsonb_to_recordset(${tx.json(groups.map(rowOf))}) AS x (
      fingerprint text, grouped_by text, service text, type text, title text, culprit text, runtime text, message text,
      frame_keys text[], count bigint, first_seen timestamptz, last_seen timestamptz, first_release text,
      last_release text, sample_ids bigint[])
    RETURNING id::integer, fingerprint`;
  return rows.map(({ id, fingerprint }) => [fingerprint, id]);
}

/** The columns of a group; ids as texts, since they have 64 bits. */
function rowOf({ error, service, count, firstMs, lastMs, firstRelease, lastRelease, sampleIds }: GroupTally) {
  const { fingerprint, by, type, title, culprit, runtime, message, keys } = error;
  return {
    ...{ fingerprint, grouped_by: by, count, runtime },
    service: storableText(service),
    type: storableText(type),
    title: storableText(title),
    culprit: storableText(culprit),
    message: storableText(message),
    frame_keys: keys.map(storableText),
    first_seen: new Date(firstMs).toISOString(),
    last_seen: new Date(lastMs).toISOString(),
    first_release: firstRelease === "" ? null : firstRelease,
    last_release: lastRelease === "" ? null : lastRelease,
    sample_ids: sampleIds.map(String),
  };
}

/** Which releases and environments the entries of a group name, those that were there first where there are many. */
async function notePlaces(
  tx: TransactionSql,
  organizationId: number,
  groups: readonly GroupTally[],
  ids: ReadonlyMap<string, number>,
): Promise<void> {
  const rows = groups.flatMap(({ error, places }) => {
    const id = ids.get(error.fingerprint);
    return id === undefined ? [] : [...places.values()].map((place) => placeRow(id, place));
  });
  if (rows.length === 0) return;
  await tx`
    INSERT INTO error_group_places AS p (group_id, organization_id, kind, value, count, first_seen, last_seen)
    SELECT x.group_id, ${organizationId}, x.kind, x.value, x.count, x.first_seen, x.last_seen
    FROM jsonb_to_recordset(${tx.json(rows)}) AS x (
      group_id bigint, kind text, value text, count bigint, first_seen timestamptz, last_seen timestamptz)
    WHERE EXISTS (SELECT 1 FROM error_group_places k
                  WHERE k.group_id = x.group_id AND k.kind = x.kind AND k.value = x.value)
       OR (SELECT count(*) FROM error_group_places k WHERE k.group_id = x.group_id AND k.kind = x.kind)
          < ${PLACES_MAX_OF_GROUP}
    ON CONFLICT (group_id, kind, value) DO UPDATE SET
      count = p.count + excluded.count,
      first_seen = least(p.first_seen, excluded.first_seen),
      last_seen = greatest(p.last_seen, excluded.last_seen)`;
}

function placeRow(groupId: number, { kind, value, count, firstMs, lastMs }: PlaceTally) {
  return {
    ...{ group_id: groupId, kind, value, count },
    first_seen: new Date(firstMs).toISOString(),
    last_seen: new Date(lastMs).toISOString(),
  };
}

/**
 * What an entry of a merged group means for the one that it is merged into; and what is resolved is open again when an entry
 * is of a later time: one that was under way when somebody resolved it says nothing new.
 */
async function reopen(
  tx: TransactionSql,
  organizationId: number,
  groups: readonly GroupTally[],
  ids: ReadonlyMap<string, number>,
): Promise<void> {
  const rows = groups.flatMap(({ error, lastMs, lastRelease }) => {
    const id = ids.get(error.fingerprint);
    const release = lastRelease === "" ? null : lastRelease;
    return id === undefined ? [] : [{ id, seen: new Date(lastMs).toISOString(), release }];
  });
  if (rows.length === 0) return;
  await tx`
    WITH seen AS (
      SELECT DISTINCT ON (root) coalesce(g.merged_into, g.id) AS root, x.seen, x.release
      FROM jsonb_to_recordset(${tx.json(rows)}) AS x (id bigint, seen timestamptz, release text)
      JOIN error_groups g ON g.organization_id = ${organizationId} AND g.id = x.id
      ORDER BY root, x.seen DESC
    )
    UPDATE error_groups r SET
      active_at = greatest(r.active_at, s.seen),
      status = CASE WHEN r.status = 'resolved' AND s.seen > r.resolved_at THEN 'open' ELSE r.status END,
      regressed_at = CASE WHEN r.status = 'resolved' AND s.seen > r.resolved_at THEN s.seen ELSE r.regressed_at END,
      regressed_release = CASE WHEN r.status = 'resolved' AND s.seen > r.resolved_at THEN s.release
                               ELSE r.regressed_release END
    FROM seen s
    WHERE r.organization_id = ${organizationId} AND r.id = s.root
      AND (r.active_at < s.seen OR (r.status = 'resolved' AND s.seen > r.resolved_at))`;
}

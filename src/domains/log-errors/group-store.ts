import type { Fragment, Sql, TransactionSql } from "postgres";
import { ApiError } from "../../errors.ts";
import { entryQuery } from "./entry-query.ts";
import { CHANGES_MAX, COMPARED_MAX, HOURS_KEPT_MS, KEPT_MS } from "./limits.ts";
import type { ErrorGroup, Status } from "./types.ts";

/** The queries about error groups; the organisation comes first in each. */

interface GroupRow {
  readonly id: number;
  readonly status: Status;
  readonly service: string;
  readonly type: string;
  readonly title: string;
  readonly culprit: string;
  readonly runtime: string | null;
  readonly groupedBy: "attribute" | "frames" | "message";
  readonly fingerprint: string;
  readonly message: string;
  readonly keys: string[];
  readonly count: number;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  readonly activeAt: Date;
  readonly firstRelease: string | null;
  readonly lastRelease: string | null;
  readonly resolvedAt: Date | null;
  readonly regressedAt: Date | null;
  readonly regressedRelease: string | null;
  readonly mergedInto: number | null;
}

/** A group, and what of it is not shown. */
export interface StoredGroup {
  readonly group: ErrorGroup;
  readonly message: string;
  readonly keys: readonly string[];
  readonly activeAtMs: number;
}

function selectGroups(tx: TransactionSql, organizationId: number, condition: Fragment): Promise<GroupRow[]> {
  return tx<GroupRow[]>`
    SELECT g.id::integer, g.status, g.service, g.type, g.title, g.culprit, g.runtime, g.grouped_by AS "groupedBy",
      g.fingerprint, g.message, g.frame_keys AS keys, (g.count + coalesce(m.count, 0))::float8 AS count,
      least(g.first_seen, m.first_seen) AS "firstSeen", greatest(g.last_seen, m.last_seen) AS "lastSeen",
      g.active_at AS "activeAt", g.first_release AS "firstRelease", g.last_release AS "lastRelease",
      g.resolved_at AS "resolvedAt", g.regressed_at AS "regressedAt", g.regressed_release AS "regressedRelease",
      g.merged_into::integer AS "mergedInto"
    FROM error_groups g
    LEFT JOIN LATERAL (
      SELECT sum(a.count) AS count, min(a.first_seen) AS first_seen, max(a.last_seen) AS last_seen
      FROM error_groups a WHERE a.merged_into = g.id AND a.organization_id = ${organizationId}
    ) m ON true
    WHERE g.organization_id = ${organizationId} AND ${condition}`;
}

function storedGroup(row: GroupRow): StoredGroup {
  const { message, keys, activeAt, firstSeen, lastSeen, resolvedAt, regressedAt, ...plain } = row;
  const [from, to] = [firstSeen.toISOString(), lastSeen.toISOString()];
  return {
    group: {
      ...plain,
      firstSeen: from,
      lastSeen: to,
      resolvedAt: resolvedAt?.toISOString() ?? null,
      regressedAt: regressedAt?.toISOString() ?? null,
      // A millisecond holds what was later in it.
      entries: { query: entryQuery(row), from, to: new Date(lastSeen.getTime() + 1).toISOString() },
    },
    message,
    keys,
    activeAtMs: activeAt.getTime(),
  };
}

/** Throws NOT_FOUND. */
export async function findGroup(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<StoredGroup> {
  const [row] = await selectGroups(tx, organizationId, tx`g.id = ${id}`);
  if (row === undefined) throw new ApiError("NOT_FOUND", "No such error group.");
  return storedGroup(row);
}

/** Where a page begins: behind this group. */
export interface GroupPosition {
  readonly activeAtMs: number;
  readonly id: number;
}

/** Groups that are merged into none, those first that were there last. */
export async function pageOfGroups(
  tx: TransactionSql,
  organizationId: number,
  filter: { readonly status: Status | "all"; readonly service: string | null },
  after: GroupPosition | null,
  limit: number,
): Promise<StoredGroup[]> {
  const { status, service } = filter;
  const behind =
    after === null ? tx`` : tx`AND (g.active_at, g.id) < (${new Date(after.activeAtMs)}, ${after.id})`;
  const rows = await selectGroups(
    tx,
    organizationId,
    tx`g.merged_into IS NULL ${behind}
      ${status === "all" ? tx`` : tx`AND g.status = ${status}`}
      ${service === null ? tx`` : tx`AND g.service = ${service}`}
      ORDER BY g.active_at DESC, g.id DESC LIMIT ${limit}`,
  );
  return rows.map(storedGroup);
}

/** The groups that one is compared with. */
export async function otherGroups(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<StoredGroup[]> {
  const rows = await selectGroups(
    tx,
    organizationId,
    tx`g.merged_into IS NULL AND g.id <> ${id} ORDER BY g.active_at DESC, g.id DESC LIMIT ${COMPARED_MAX}`,
  );
  return rows.map(storedGroup);
}

/** Groups that were first seen, or came again though resolved, between two times, the latest first. */
export async function changedGroups(
  tx: TransactionSql,
  organizationId: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<ErrorGroup[]> {
  const [from, to] = [new Date(fromMs), new Date(toMs)];
  const rows = await selectGroups(
    tx,
    organizationId,
    tx`g.merged_into IS NULL
      AND (g.first_seen BETWEEN ${from} AND ${to} OR g.regressed_at BETWEEN ${from} AND ${to})
      ORDER BY greatest(g.first_seen, g.regressed_at) DESC, g.id DESC LIMIT ${CHANGES_MAX}`,
  );
  return rows.map((row) => storedGroup(row).group);
}

/** Errors of no group since a time, and the hour in which there was one last. */
export async function otherErrors(
  tx: TransactionSql,
  organizationId: number,
  sinceMs: number,
): Promise<{ readonly count: number; readonly lastHour: string | null }> {
  const [row] = await tx<{ count: number; last: Date | null }[]>`
    SELECT coalesce(sum(other), 0)::float8 AS count, max(hour) AS last FROM error_group_hours
    WHERE organization_id = ${organizationId} AND hour >= ${new Date(sinceMs)} AND other > 0`;
  return { count: row?.count ?? 0, lastHour: row?.last?.toISOString() ?? null };
}

/** A group, or one that is merged into it. */
interface GroupMember {
  readonly id: number;
  readonly fingerprint: string;
  readonly title: string;
  readonly count: number;
  readonly sampleIds: readonly string[];
}

/** The group itself first. */
export async function membersOf(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<GroupMember[]> {
  return await tx<GroupMember[]>`
    SELECT id::integer, fingerprint, title, count::float8, sample_ids::text[] AS "sampleIds" FROM error_groups
    WHERE organization_id = ${organizationId} AND (id = ${id} OR merged_into = ${id}) ORDER BY id <> ${id}, id`;
}

export interface GroupPlace {
  readonly kind: "release" | "environment";
  readonly value: string;
  readonly count: number;
  readonly firstSeen: string;
  readonly lastSeen: string;
}

/** Releases and environments of groups together, the latest to come first. */
export async function placesOf(
  tx: TransactionSql,
  organizationId: number,
  ids: readonly number[],
): Promise<GroupPlace[]> {
  const rows = await tx<(Omit<GroupPlace, "firstSeen" | "lastSeen"> & { first: Date; last: Date })[]>`
    SELECT kind, value, sum(count)::float8 AS count, min(first_seen) AS first, max(last_seen) AS last
    FROM error_group_places WHERE organization_id = ${organizationId} AND group_id = ANY(${[...ids]}::bigint[])
    GROUP BY kind, value ORDER BY min(first_seen) DESC, value`;
  return rows.map(({ first, last, ...place }) => {
    return { ...place, firstSeen: first.toISOString(), lastSeen: last.toISOString() };
  });
}

/** Removes groups that were quiet for as long as anything is known of them. */
export async function removeQuietGroups(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const { count } = await sql`
    DELETE FROM error_groups WHERE id IN (
      SELECT g.id FROM error_groups g LEFT JOIN error_groups r ON r.id = g.merged_into
      WHERE g.last_seen < ${new Date(nowMs - KEPT_MS)}
        AND coalesce(r.active_at, g.active_at) < ${new Date(nowMs - KEPT_MS)}
      ORDER BY g.id LIMIT ${limit} FOR UPDATE OF g SKIP LOCKED)`;
  return count;
}

export async function removeOldHours(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const { count } = await sql`
    DELETE FROM error_group_hours WHERE (organization_id, hour) IN (
      SELECT organization_id, hour FROM error_group_hours WHERE hour < ${new Date(nowMs - HOURS_KEPT_MS)}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`;
  return count;
}

import type { TransactionSql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { findGroup } from "./group-store.ts";
import { MERGED_MAX } from "./limits.ts";
import type { ErrorGroup, Status, UpdateErrorGroupBody } from "./types.ts";

/** Resolves, ignores or opens a group. Throws VALIDATION_FAILED, NOT_FOUND, and CONFLICT for one that is merged. */
export async function updateGroup(
  change: Change,
  id: number,
  { resolved, ignored }: UpdateErrorGroupBody,
): Promise<ErrorGroup> {
  if (resolved === true && ignored === true)
    throw validationFailed([
      { path: "/ignored", code: "custom", message: "cannot be true together with `resolved`" },
    ]);
  const { tx, organizationId, nowMs } = change;
  await lockGroups(tx, organizationId, [id]);
  const { group: before } = await findGroup(tx, organizationId, id);
  if (before.mergedInto !== null)
    throw new ApiError("CONFLICT", `This group is merged into ${before.mergedInto}: change that one.`);
  const status = nextStatus(before.status, resolved, ignored);
  if (status !== before.status)
    await tx`
    UPDATE error_groups SET status = ${status}, updated_at = ${new Date(nowMs)},
      resolved_at = ${status === "resolved" ? new Date(nowMs) : null}
    WHERE organization_id = ${organizationId} AND id = ${id}`;
  return recorded(change, before);
}

function nextStatus(status: Status, resolved: boolean | undefined, ignored: boolean | undefined): Status {
  if (resolved === true) return "resolved";
  if (ignored === true) return "ignored";
  const isLeft = (status === "resolved" && resolved === false) || (status === "ignored" && ignored === false);
  return isLeft ? "open" : status;
}

/**
 * Counts a group with another one, its later entries, too; what was merged into it comes along. Throws NOT_FOUND, and
 * VALIDATION_FAILED for itself, what is merged itself, and what there is not.
 */
export async function mergeGroup(change: Change, id: number, into: number): Promise<ErrorGroup> {
  const { tx, organizationId, nowMs } = change;
  await lockGroups(tx, organizationId, [id, into]);
  const { group: before } = await findGroup(tx, organizationId, id);
  if (into === id) throw refused("is the group itself");
  const [target] = await tx<{ mergedInto: number | null }[]>`
    SELECT merged_into::integer AS "mergedInto" FROM error_groups
    WHERE organization_id = ${organizationId} AND id = ${into}`;
  if (target === undefined) throw refused("names no error group");
  if (target.mergedInto !== null)
    throw refused(
      target.mergedInto === id ? "is merged into this group" : `is merged into ${target.mergedInto} itself`,
    );
  const [{ members } = { members: 0 }] = await tx<{ members: number }[]>`
    SELECT count(*)::integer AS members FROM error_groups
    WHERE organization_id = ${organizationId} AND merged_into IN (${id}, ${into})`;
  if (members >= MERGED_MAX)
    throw new ApiError("CONFLICT", `${MERGED_MAX} groups are the most that can be one.`);
  await tx`
    UPDATE error_groups SET merged_into = ${into}, updated_at = ${new Date(nowMs)}
    WHERE organization_id = ${organizationId} AND (id = ${id} OR merged_into = ${id})`;
  await setActive(tx, organizationId, [id, into, ...(before.mergedInto === null ? [] : [before.mergedInto])]);
  return recorded(change, before);
}

/** Makes a merged group one of its own again. Throws NOT_FOUND, and CONFLICT for one that is not merged. */
export async function unmergeGroup(change: Change, id: number): Promise<ErrorGroup> {
  const { tx, organizationId, nowMs } = change;
  const { group: seen } = await findGroup(tx, organizationId, id);
  await lockGroups(tx, organizationId, seen.mergedInto === null ? [id] : [id, seen.mergedInto]);
  const { group: before } = await findGroup(tx, organizationId, id);
  if (before.mergedInto === null) throw new ApiError("CONFLICT", "This group is not merged.");
  await tx`
    UPDATE error_groups SET merged_into = NULL, updated_at = ${new Date(nowMs)}
    WHERE organization_id = ${organizationId} AND id = ${id}`;
  await setActive(tx, organizationId, [id, before.mergedInto]);
  return recorded(change, before);
}

function refused(message: string) {
  return validationFailed([{ path: "/into", code: "custom", message }]);
}

/** In the order of their ids: two that lock the same groups wait for each other and not in a ring. */
async function lockGroups(tx: TransactionSql, organizationId: number, ids: readonly number[]): Promise<void> {
  await tx`
    SELECT 1 FROM error_groups WHERE organization_id = ${organizationId} AND id = ANY(${[...ids]}::bigint[])
    ORDER BY id FOR UPDATE`;
}

/** When an entry of a group, or of one that is merged into it, was last. */
async function setActive(tx: TransactionSql, organizationId: number, ids: readonly number[]): Promise<void> {
  await tx`
    UPDATE error_groups g SET active_at = greatest(g.last_seen, (
      SELECT max(a.last_seen) FROM error_groups a WHERE a.organization_id = ${organizationId} AND a.merged_into = g.id))
    WHERE g.organization_id = ${organizationId} AND g.id = ANY(${[...ids]}::bigint[])`;
}

async function recorded(change: Change, before: ErrorGroup): Promise<ErrorGroup> {
  const { group: after } = await findGroup(change.tx, change.organizationId, before.id);
  change.record({ resource: `log-error:${before.id}`, before, after });
  return after;
}

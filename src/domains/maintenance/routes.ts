import type { Sql, TransactionSql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { type FieldIssue, validationFailed } from "../../errors.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { CreateWindowBody, MaintenanceWindow, UpdateWindowBody } from "./types.ts";

/** Windows of one organisation: the list is one answer, which somebody reads. */
const WINDOWS_MAX = 1000;

interface MaintenanceDependencies {
  readonly sql: Sql;
  /** Tells what watches monitors that it has something new to heed. */
  readonly onWindowsChanged: () => void;
}

export const windows = new Records<typeof MaintenanceWindow, CreateWindowBody, UpdateWindowBody>({
  noun: "maintenance window",
  table: "maintenance_windows",
  schema: MaintenanceWindow,
  maxPerOrganization: WINDOWS_MAX,
  check: async (fields, before, change) => {
    const issues = [
      ...timeIssues({ ...before, ...fields }),
      ...(await monitorIssues(change, fields.monitorId)),
    ];
    if (issues.length > 0) throw validationFailed(issues);
  },
});

/** Announced work, in which monitors are checked and nobody is told. */
export function maintenanceRoutes({ sql, onWindowsChanged }: MaintenanceDependencies) {
  const routes = resource({
    path: "/api/v1/maintenance-windows",
    tag: "Maintenance",
    one: "a maintenance window",
    many: "maintenance windows",
    by: BY_ID,
    record: MaintenanceWindow,
    read: { role: "viewer", scope: "maintenance:read" },
    write: { role: "member", scope: "maintenance:write" },
    audit: "MAINTENANCE_WINDOW",
  });
  return [
    routes.list("Oldest first", ({ organizationId }) => windows.list(sql, organizationId)),
    routes.create(CreateWindowBody, MaintenanceWindow, (change, body) => {
      change.afterCommit(onWindowsChanged);
      return windows.create(change, body);
    }),
    routes.read(MaintenanceWindow, ({ organizationId }, id) => windows.read(sql, organizationId, id)),
    routes.update(UpdateWindowBody, (change, id, body) => {
      change.afterCommit(onWindowsChanged);
      return updateWindow(change, id, body);
    }),
    routes.remove((change, id) => {
      change.afterCommit(onWindowsChanged);
      return windows.remove(change, id);
    }),
  ];
}

/** Throws NOT_FOUND and VALIDATION_FAILED. */
export async function updateWindow(
  change: Change,
  id: number,
  body: UpdateWindowBody,
): Promise<MaintenanceWindow> {
  const window = await windows.update(change, id, body);
  await awaitEndAgain(change.tx, change.organizationId, id, change.nowMs);
  return window;
}

/** A window that was over and was then made longer ends once more. */
async function awaitEndAgain(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  nowMs: number,
): Promise<void> {
  await tx`
    UPDATE maintenance_windows SET settled_at = NULL
    WHERE organization_id = ${organizationId} AND id = ${id} AND ends_at > ${new Date(nowMs)}`;
}

function timeIssues({ startsAt = "", endsAt = "" }: { startsAt?: string; endsAt?: string }): FieldIssue[] {
  if (Date.parse(endsAt) > Date.parse(startsAt)) return [];
  return [{ path: "/endsAt", code: "custom", message: "must be after startsAt" }];
}

async function monitorIssues(
  { tx, organizationId }: Change,
  monitorId: number | null | undefined,
): Promise<FieldIssue[]> {
  if (monitorId === null || monitorId === undefined) return [];
  const found = await tx`
    SELECT 1 FROM monitors WHERE organization_id = ${organizationId} AND id = ${monitorId} FOR KEY SHARE`;
  return found.length > 0 ? [] : [{ path: "/monitorId", code: "custom", message: "is no monitor" }];
}

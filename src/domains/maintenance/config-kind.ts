import { type ConfigKind, configKind } from "../../configuration/config-kind.ts";
import { recordsOf, verbsOf } from "../../configuration/record-kinds.ts";
import { updateWindow, windows } from "./routes.ts";
import { CreateWindowBody, UpdateWindowBody } from "./types.ts";

/** Maintenance windows as files describe them. `onChanged` tells what watches monitors. */
export function maintenanceKind(onChanged: () => void): ConfigKind {
  return configKind({
    kind: "maintenance-windows",
    audit: "MAINTENANCE_WINDOW",
    table: "maintenance_windows",
    read: { role: "viewer", scope: "maintenance:read" },
    write: { role: "member", scope: "maintenance:write" },
    create: CreateWindowBody,
    update: UpdateWindowBody,
    naming: ["title", "startsAt", "endsAt"],
    references: [{ at: ["monitorId"], to: "monitors" }],
    list: recordsOf(windows),
    ...verbsOf({ createAll: windows.createAll, update: updateWindow, remove: windows.remove }, (change) =>
      change.afterCommit(onChanged),
    ),
  });
}

import { Type } from "typebox";
import { csvRecord } from "../../http/csv.ts";
import { route } from "../../http/define-route.ts";
import type { MonitorService } from "./service.ts";
import type { Monitor } from "./types.ts";

const COLUMNS = [
  "id",
  "name",
  "type",
  "url",
  "intervalSec",
  "timeoutMs",
  "confirmedStatus",
  "lastStatus",
  "lastCheckedAt",
  "paused",
  "tags",
  "regions",
  "alertThreshold",
  "uptimeTargetBp",
  "uptimeWindowDays",
  "sloBreachOpen",
  "createdAt",
] as const satisfies readonly (keyof Monitor)[];

export function monitorExportRoutes(service: MonitorService) {
  return [
    route({
      method: "GET",
      path: "/api/v1/export/monitors.csv",
      tag: "Monitors",
      summary:
        "Download the monitors as a table. CSV values stand as they are: spreadsheets may take some for formulas",
      access: { role: "viewer", scope: "monitors:read" },
      responses: {
        200: {
          description: "A line of names, then a line for each monitor, the oldest first",
          contentType: "text/csv",
          schema: Type.String(),
        },
      },
      handler: async ({ principal }) => {
        const monitors = await service.list(principal.organizationId);
        const text = [csvRecord(COLUMNS), ...monitors.map((monitor) => csvRecord(cellsOf(monitor)))].join("");
        return {
          status: 200,
          encoded: { contentType: "text/csv; charset=utf-8", bytes: new TextEncoder().encode(text) },
          headers: { "content-disposition": 'attachment; filename="monitors.csv"' },
        };
      },
    }),
  ];
}

/** What is not set is an empty cell; several values stand behind each other with blanks. */
function cellsOf(monitor: Monitor): string[] {
  return COLUMNS.map((name) => {
    const value = monitor[name];
    return Array.isArray(value) ? value.join(" ") : String(value ?? "");
  });
}

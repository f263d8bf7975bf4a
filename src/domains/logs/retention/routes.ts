import type { Sql } from "postgres";
import { RetentionAnswer, RetentionBody } from "../../../archive/retention/types.ts";
import { route } from "../../../http/define-route.ts";
import { changeRetention, readRetention } from "./service.ts";

interface LogRetentionOptions {
  readonly sql: Sql;
  /** Days of organisations that have set none. */
  readonly defaultDays: number;
}

/** How long entries stay in the log store before they move to the archive. */
export function logRetentionRoutes({ sql, defaultDays }: LogRetentionOptions) {
  return [
    route({
      method: "GET",
      path: "/api/v1/logs/retention",
      tag: "Logs",
      summary: "Read how long log entries stay in the log store",
      access: { role: "viewer", scope: "logs:read" },
      responses: { 200: { description: "The settings", schema: RetentionAnswer } },
      handler: async ({ principal }) => ({
        status: 200,
        body: await readRetention(sql, principal.organizationId, defaultDays),
      }),
    }),
    route({
      method: "PUT",
      path: "/api/v1/logs/retention",
      tag: "Logs",
      summary: "Set how long log entries stay in the log store before they move to the archive",
      access: { role: "admin", scope: "account:write" },
      audit: "UPDATE_LOG_RETENTION",
      body: { kind: "json", schema: RetentionBody },
      responses: { 200: { description: "The settings as they are now", schema: RetentionAnswer } },
      handler: ({ change }, { body }) =>
        change(async (made) => ({ status: 200, body: await changeRetention(made, body, defaultDays) })),
    }),
  ];
}

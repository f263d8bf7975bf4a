import type { Sql } from "postgres";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { ApiError, DependencyError } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import { callerOf } from "../../http/query-caller.ts";
import type { AuthenticatedContext } from "../../http/route.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { countLogs } from "./log-counts.ts";
import { countRecords } from "./store.ts";
import { type LogCounts, Overview } from "./types.ts";

interface OverviewDependencies {
  readonly sql: Sql;
  readonly ranges: LogRanges;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What there is at a glance. */
export function overviewRoutes(deps: OverviewDependencies) {
  return [
    route({
      method: "GET",
      path: "/api/v1/overview",
      tag: "Organisation",
      summary: "Count what the organisation has",
      access: { role: "viewer", scope: "account:read" },
      responses: { 200: { description: "The counts", schema: Overview } },
      handler: async (context) => ({ status: 200, body: await readOverview(deps, context) }),
    }),
  ];
}

async function readOverview(deps: OverviewDependencies, context: AuthenticatedContext): Promise<Overview> {
  const { organizationId } = context.principal;
  const nowMs = deps.now();
  const [records, logs] = await Promise.all([
    askPostgres(() =>
      inOrganization(deps.sql, organizationId, (tx) => countRecords(tx, organizationId, nowMs)),
    ),
    readLogCounts(deps, context, nowMs),
  ]);
  return { ...records, logs };
}

/** What else there is matters most while the log store fails, so its failure takes nothing away but its own count. */
async function readLogCounts(
  { ranges }: OverviewDependencies,
  context: AuthenticatedContext,
  nowMs: number,
): Promise<LogCounts | null> {
  try {
    return await countLogs(ranges, callerOf(context), nowMs);
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof DependencyError)) throw error;
    context.log.warn({ err: error }, "an overview goes without the count of logs");
    return null;
  }
}

import { createHmac } from "node:crypto";
import type { Sql } from "postgres";
import type { ArchiveFiles } from "../../../archive/files/archive-files.ts";
import { listArchivedFiles } from "../../../archive/reading/store.ts";
import { route } from "../../../http/define-route.ts";
import { callerOf } from "../../../http/query-caller.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { inOrganization } from "../../../storage/organization-transaction.ts";
import type { QueryRunner } from "../../../storage/query-runner.ts";
import { searchLogs } from "../search.ts";
import { answerSearch, type LogSearchOptions } from "../search-routes.ts";
import { SearchAnswer, SearchParameters } from "../types.ts";
import { ArchiveReader, type ArchiveReaderOptions } from "./archive-reader.ts";
import { listArchivedUnits, UnitPage, UnitParameters } from "./units.ts";

interface LogArchiveOptions extends Omit<LogSearchOptions, "ranges"> {
  readonly runner: QueryRunner;
  readonly sql: Sql;
  /** Null when no archive is configured. */
  readonly files: ArchiveFiles | null;
}

/** The search of archived entries: that of the log store, over files. */
export function logArchiveRoutes({
  sql,
  files,
  runner,
  budget,
  cursorKey: searchKey,
  now,
  kept,
}: LogArchiveOptions) {
  // A cursor of one of the two searches is none of the other.
  const cursorKey = createHmac("sha256", searchKey).update("archive").digest();
  const monotonicMs = () => performance.now();
  const listFiles: ArchiveReaderOptions["listFiles"] = (organizationId, timeRange, limit) =>
    askPostgres(() =>
      inOrganization(sql, organizationId, (tx) => listArchivedFiles(tx, organizationId, timeRange, limit)),
    );
  return [
    route({
      method: "GET",
      path: "/api/v1/logs/archive",
      tag: "Logs",
      summary: "Find archived log entries, newest first",
      access: { role: "viewer", scope: "logs:read" },
      query: SearchParameters,
      responses: { 200: { description: "One page of the entries that match", schema: SearchAnswer } },
      errors: ["KQL_INVALID", "QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"],
      handler: async (context, { query }) => {
        const onMissing = (names: readonly string[]): void =>
          context.log.error({ files: names.slice(0, MISSING_LOGGED) }, "archived files are missing");
        const reader = new ArchiveReader({ runner, budget, files, listFiles, onMissing });
        const result = await searchLogs(
          { reader, cursorKey, now, kept, monotonicMs },
          callerOf(context),
          query,
        );
        return answerSearch(context, result, reader.coverage());
      },
    }),
    route({
      method: "GET",
      path: "/api/v1/logs/archive/units",
      tag: "Logs",
      summary: "List what the archive has, a file and a day of receipt each, the last archived first",
      access: { role: "viewer", scope: "logs:read" },
      query: UnitParameters,
      responses: { 200: { description: "One page of the units", schema: UnitPage } },
      handler: async ({ principal }, { query }) => ({
        status: 200,
        body: await listArchivedUnits({ sql, cursorKey }, principal.organizationId, query),
      }),
    }),
  ];
}

/** Names of missing files in one line of the log. */
const MISSING_LOGGED = 5;

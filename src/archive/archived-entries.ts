import type { Sql } from "postgres";
import type { EntryIds, EntrySpan } from "../../ingest/index.ts";
import { fileTable } from "../../query/index.ts";
import type { ClickHouseEndpoint } from "../storage/clickhouse.ts";
import { type EntryTable, lookUpEntries, unionOf } from "../storage/entry-lookup.ts";
import type { ArchiveFiles } from "./files/archive-files.ts";
import { LOOKUP_FILES } from "./limits.ts";

interface ArchivedEntriesOptions {
  readonly sql: Sql;
  readonly endpoint: ClickHouseEndpoint;
  readonly files: ArchiveFiles;
}

/**
 * Which entries of the span the archive has. A file that is missing has none: what was only there is stored again. Days
 * whose archived entries were deleted, their time being over, have none either; such entries move to the archive and
 * are deleted once more.
 */
export async function findArchivedEntries(
  { sql, endpoint, files }: ArchivedEntriesOptions,
  span: EntrySpan,
  signal: AbortSignal,
): Promise<EntryIds> {
  let found: EntryIds = new Map();
  for (let afterId = 0; ; ) {
    const page = await listFiles(sql, span, afterId);
    const names = page.map(({ file }) => file);
    const missing = new Set(names.length === 0 ? [] : files.missing(names));
    const there = names.filter((name) => !missing.has(name));
    if (there.length > 0)
      found = unionOf(found, await lookUpEntries(endpoint, tableOf(files, there), span, signal));
    if (page.length < LOOKUP_FILES) return found;
    afterId = page.at(-1)?.id ?? 0;
  }
}

/** The next files that count and can have entries of the span. */
function listFiles(
  sql: Sql,
  { organizations, receivedMs }: EntrySpan,
  afterId: number,
): Promise<{ id: number; file: string }[]> {
  return sql<{ id: number; file: string }[]>`
    SELECT id, file FROM log_archive_units
    WHERE id > ${afterId} AND state <> 'planned'
      AND organization_id BETWEEN ${organizations.min} AND ${organizations.max}
      AND day BETWEEN ${dayOf(receivedMs.min)}::date AND ${dayOf(receivedMs.max)}::date
    ORDER BY id LIMIT ${LOOKUP_FILES}`;
}

/** The day in UTC, as the partitions of the log store have it. */
function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, "YYYY-MM-DD".length);
}

function tableOf(files: ArchiveFiles, names: readonly string[]): EntryTable {
  const parameters: Record<string, string> = {};
  const sql = fileTable(files.source(names), (text) => {
    const name = `file${Object.keys(parameters).length}`;
    parameters[name] = text;
    return `{${name}: String}`;
  });
  return { sql, parameters };
}

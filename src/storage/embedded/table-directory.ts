import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import { syncDirectoriesAbove, syncDirectory } from "../write-durably.ts";
import { clickhouseStorePath } from "./clickhouse-engine.ts";

/**
 * Answers a function that makes the names of the table's parts survive a power cut. The embedded ClickHouse syncs every
 * file of a part and the part's own directory, and leaves it to the file system whether the part is found under its
 * name; most keep it, no standard says so. The first call does the same for the directories above, up to the data
 * directory, and for those of the table's definition.
 */
export function tableDirectorySync(
  clickhouse: ClickHouseClient,
  table: string,
  dataDirectory: string,
): () => Promise<void> {
  let directory: string | null = null;
  return async () => {
    directory ??= await findAndSync(clickhouse, table, dataDirectory);
    await syncDirectory(directory);
  };
}

async function findAndSync(
  clickhouse: ClickHouseClient,
  table: string,
  dataDirectory: string,
): Promise<string> {
  const result = await clickhouse.query({
    query: `SELECT data_paths, metadata_path FROM system.tables
            WHERE database = currentDatabase() AND name = {table: String}`,
    query_params: { table },
    format: "JSONEachRow",
  });
  const [found] = await result.json<{ data_paths: string[]; metadata_path: string }>();
  const [dataPath] = found?.data_paths ?? [];
  if (found === undefined || dataPath === undefined) throw new Error(`the table ${table} has no directory`);
  const top = await realpath(dataDirectory);
  const directory = await realpath(dataPath);
  const definition = await realpath(join(clickhouseStorePath(dataDirectory), found.metadata_path));
  await syncDirectoriesAbove(directory, top);
  await syncDirectoriesAbove(definition, top);
  return directory;
}

import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Config } from "../config/config.ts";
import type { ArchiveFiles } from "./files/archive-files.ts";
import { openBucketFiles } from "./files/bucket-files.ts";
import { DirectoryFiles } from "./files/directory-files.ts";

type ArchiveConfig = Pick<
  Config,
  | "dataDirectory"
  | "clickhouseUrl"
  | "archiveDirectory"
  | "archiveS3Url"
  | "archiveS3AccessKeyId"
  | "archiveS3SecretAccessKey"
>;

/**
 * The place of the archive as it is configured: a bucket, a directory, or the one in the data directory, which only
 * the embedded ClickHouse is sure to see. Null when there is none: then nothing is archived. Throws an error with a
 * message for the operator.
 */
export async function openArchiveFiles(
  config: ArchiveConfig,
  clickhouse: ClickHouseClient,
): Promise<ArchiveFiles | null> {
  const { archiveS3Url: url, archiveS3AccessKeyId: accessKeyId, archiveS3SecretAccessKey: secret } = config;
  if (url !== null && accessKeyId !== null && secret !== null)
    return openBucketFiles(clickhouse, { url, accessKeyId, secretAccessKey: secret });
  const embedded = config.clickhouseUrl === null ? join(config.dataDirectory, "archive") : null;
  const directory = config.archiveDirectory ?? embedded;
  if (directory === null) return null;
  const files = new DirectoryFiles(directory);
  await files.prepare();
  return files;
}

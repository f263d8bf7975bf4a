import { createHash } from "node:crypto";
import type { ClickHouseClient } from "@clickhouse/client";
import { S3Client } from "bun";
import { FILE_STRUCTURE } from "../columns.ts";
import { type ArchiveFiles, checkedName, patternOf } from "./archive-files.ts";

interface BucketOptions {
  /** `https://host/bucket/`, with or without a prefix after it; it ends with a slash. */
  readonly url: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * A bucket of an object store that speaks S3. ClickHouse knows its address and credentials by a named collection, so
 * that no statement, log or list of statements holds them. The collection's name comes from what it says: instances
 * with the same settings share it, and changed settings make a new one. Throws when ClickHouse lets us make none.
 */
export async function openBucketFiles(
  clickhouse: ClickHouseClient,
  options: BucketOptions,
): Promise<ArchiveFiles> {
  const { url, accessKeyId, secretAccessKey } = options;
  const digest = createHash("sha256").update(JSON.stringify([url, accessKeyId, secretAccessKey]));
  const collection = `obs_archive_${digest.digest("hex").slice(0, COLLECTION_DIGITS)}`;
  try {
    await clickhouse.command({
      query: `CREATE NAMED COLLECTION IF NOT EXISTS ${collection} AS
        url = ${quoted(url)}, access_key_id = ${quoted(accessKeyId)}, secret_access_key = ${quoted(secretAccessKey)}`,
    });
  } catch (error) {
    // Without the error, which may repeat the statement.
    const code = error instanceof Error && "code" in error ? ` (ClickHouse error ${String(error.code)})` : "";
    throw new Error(
      `ClickHouse does not take the settings of the archive's bucket${code}: its user needs the right NAMED COLLECTION ADMIN.`,
    );
  }
  return new BucketFiles(collection, options);
}

const COLLECTION_DIGITS = 16;

class BucketFiles implements ArchiveFiles {
  readonly #collection: string;
  readonly #client: S3Client;
  readonly #prefix: string;

  constructor(collection: string, { url, accessKeyId, secretAccessKey }: BucketOptions) {
    this.#collection = collection;
    const { origin, pathname } = new URL(url);
    const [bucket = "", ...prefix] = pathname.slice(1).split("/");
    this.#prefix = prefix.join("/");
    this.#client = new S3Client({ endpoint: origin, bucket, accessKeyId, secretAccessKey });
  }

  source(names: readonly string[]): ReturnType<ArchiveFiles["source"]> {
    return {
      kind: "bucket",
      collection: this.#collection,
      pattern: patternOf(names),
      structure: FILE_STRUCTURE,
    };
  }

  /** A bucket has a whole file or none, and keeps it. */
  async settle(): Promise<void> {}

  /** Not asked for each search: what is not there makes the search fail. */
  missing(): readonly string[] {
    return [];
  }

  async remove(name: string): Promise<void> {
    await this.#client.delete(`${this.#prefix}${checkedName(name)}`);
  }
}

/** A text as ClickHouse reads it in a statement that takes no parameters. */
function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

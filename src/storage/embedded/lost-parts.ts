import type { ClickHouseClient } from "@clickhouse/client";
import type { Logger } from "../../log.ts";

/** Named; there may be many. */
const NAMED_MAX = 20;

/**
 * Says at a start, and answers, which parts ClickHouse could not read and put aside, other than those whose rows are in parts that it could
 * read: behind a power cut it finds what a merge had not finished, beside what was merged. Otherwise rows are missing, and only a copy has them.
 */
export async function tellOfLostParts(clickhouse: ClickHouseClient, log: Logger): Promise<readonly string[]> {
  const result = await clickhouse.query({
    query: `
      SELECT table, name FROM system.detached_parts
      WHERE database = currentDatabase() AND startsWith(ifNull(reason, ''), 'broken')
        AND NOT arrayExists(
          (other, first, last) -> other = (table, partition_id) AND first <= max_block_number AND last >= min_block_number,
          (SELECT groupArray((table, partition_id)) FROM system.parts WHERE database = currentDatabase() AND active),
          (SELECT groupArray(min_block_number) FROM system.parts WHERE database = currentDatabase() AND active),
          (SELECT groupArray(max_block_number) FROM system.parts WHERE database = currentDatabase() AND active))
      ORDER BY table, name LIMIT ${NAMED_MAX}`,
    format: "JSONEachRow",
  });
  const parts = (await result.json<{ table: string; name: string }>()).map(
    ({ table, name }) => `${table}/${name}`,
  );
  if (parts.length > 0)
    log.error(
      { parts },
      "ClickHouse could not read these parts and has put them aside: what is in them is missing",
    );
  return parts;
}

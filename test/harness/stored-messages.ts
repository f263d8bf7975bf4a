import type { ClickHouseClient } from "@clickhouse/client";

/** Every message in the table with how often it is there. */
export async function storedMessages(clickhouse: ClickHouseClient): Promise<Map<string, number>> {
  const result = await clickhouse.query({
    query: "SELECT message, count() AS count FROM logs GROUP BY message",
    format: "JSONEachRow",
  });
  const rows = await result.json<{ message: string; count: string }>();
  return new Map(rows.map((row) => [row.message, Number(row.count)]));
}

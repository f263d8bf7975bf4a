import type { Stores } from "./open.ts";

/** What the log store and the database say they are; null for one that does not answer. */
export async function storeVersions(
  stores: Pick<Stores, "clickhouse" | "postgres">,
): Promise<{ clickhouse: string | null; postgres: string | null }> {
  const [clickhouse, postgres] = await Promise.allSettled([
    stores.clickhouse
      .query({ query: "SELECT version() AS version", format: "JSONEachRow" })
      .then((result) => result.json<{ version: string }>()),
    stores.postgres<{ version: string }[]>`SELECT current_setting('server_version') AS version`,
  ]);
  return {
    clickhouse: clickhouse.status === "fulfilled" ? (clickhouse.value[0]?.version ?? null) : null,
    postgres: postgres.status === "fulfilled" ? (postgres.value[0]?.version ?? null) : null,
  };
}

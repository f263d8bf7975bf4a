import type { ClickHouseClient } from "@clickhouse/client";
import { removerOfUnusedRows } from "../../kql/kept/kept-rows.ts";
import { type KqlTableDependencies, kqlTableRoutes } from "./routes.ts";

interface KqlTableDomainDependencies extends KqlTableDependencies {
  readonly clickhouse: ClickHouseClient;
}

/** Tables that an organisation keeps for its queries, and what removes rows that none of them has any more. */
export function kqlTableDomain({ clickhouse, ...deps }: KqlTableDomainDependencies) {
  return { routes: kqlTableRoutes(deps), housekeeping: [removerOfUnusedRows(clickhouse)] };
}

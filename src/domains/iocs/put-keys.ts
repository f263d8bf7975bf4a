import type { TransactionSql } from "postgres";
import type { PutKey } from "../../changes/make-many.ts";
import { indicatorOfGiven } from "../../entities/indicators/indicator-store.ts";
import type { IndicatorType } from "../../entities/indicators/indicator-value.ts";

/** What indicators are known by, in their order, and whether the table has a record of each already. */
export async function putKeys(
  tx: TransactionSql,
  table: "iocs" | "ioc_allow_list",
  organizationId: number,
  given: readonly { readonly type: IndicatorType; readonly value: string }[],
): Promise<readonly PutKey[]> {
  const known =
    table === "iocs"
      ? indicatorOfGiven(tx, organizationId)
      : tx`LATERAL (
          SELECT id FROM ioc_allow_list
          WHERE organization_id = ${organizationId} AND type = given.type AND value = given.value) AS i`;
  return tx<PutKey[]>`
    SELECT given.type || ' ' || given.value AS key, i.id IS NOT NULL AS "isTaken"
    FROM unnest(${given.map(({ type }) => type)}::text[], ${given.map(({ value }) => value)}::text[])
      WITH ORDINALITY AS given (type, value, place) LEFT JOIN ${known} ON true
    ORDER BY place`;
}

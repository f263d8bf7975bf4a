import type { Sql, TransactionSql } from "postgres";
import { Value } from "typebox/value";
import type { Change } from "../../changes/change.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization, lockOrganization } from "../../storage/organization-transaction.ts";
import { Prices } from "./types.ts";

const NONE: Prices = { version: 0, prices: {}, createdAt: null };

/** The prices that hold now. */
export async function readPrices(sql: Sql, organizationId: number): Promise<Prices> {
  return askPostgres(() => inOrganization(sql, organizationId, (tx) => findPrices(tx, organizationId)));
}

/** The same within a transaction that is open. */
export async function findPrices(tx: TransactionSql, organizationId: number): Promise<Prices> {
  const [row] = await tx<{ version: number; prices: unknown; createdAt: Date }[]>`
    SELECT version, prices, created_at AS "createdAt" FROM model_prices
    WHERE organization_id = ${organizationId} ORDER BY version DESC LIMIT 1`;
  return row === undefined ? NONE : Value.Parse(Prices, { ...row, createdAt: row.createdAt.toISOString() });
}

/** Sets all prices anew, as another version. */
export async function setPrices(change: Change, prices: Prices["prices"]): Promise<Prices> {
  const { tx, organizationId, nowMs } = change;
  await lockOrganization(tx, organizationId);
  const [row] = await tx<{ version: number }[]>`
    INSERT INTO model_prices (organization_id, version, prices, created_at)
    SELECT ${organizationId}, coalesce(max(version), 0) + 1, ${JSON.stringify(prices)}::text::jsonb, ${new Date(nowMs)}
    FROM model_prices WHERE organization_id = ${organizationId}
    RETURNING version`;
  if (row === undefined) throw new Error("prices were not kept");
  change.record({ resource: `model-prices:${row.version}`, after: { prices } });
  return { version: row.version, prices, createdAt: new Date(nowMs).toISOString() };
}

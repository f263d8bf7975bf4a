import { INSTANCE_COUNT } from "../../../ingest/index.ts";
import type { MadeSpan } from "../../../query/index.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import type { OrganizationEntries } from "./finder.ts";
import { ATTRIBUTE_KEYS_MAX } from "./limits.ts";
import { readRows } from "./read-rows.ts";

/** What is asked of `logs` about everybody's entries: which there are, never what is in them. */

/** The condition that an entry is in a span, whose numbers are `spanParameters`. */
export const SPAN = `id % ${INSTANCE_COUNT} = {instance: UInt64} AND id > {after: UInt64} AND id <= {through: UInt64}`;
const LARGEST_ID = 2n ** 64n - 1n;

/** The greatest stored id of the span; null without any. */
export async function greatestStored(
  endpoint: ClickHouseEndpoint,
  span: MadeSpan,
  signal: AbortSignal,
): Promise<bigint | null> {
  const sql = `SELECT toString(max(id)) FROM logs WHERE ${SPAN} HAVING count() > 0`;
  const [row] = await readRows(endpoint, sql, spanParameters(span), signal);
  return row === undefined ? null : BigInt(String(row[0]));
}

/** The entries of the span, by organisation. */
export async function organizationsIn(
  endpoint: ClickHouseEndpoint,
  span: MadeSpan,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, OrganizationEntries>> {
  const sql = `SELECT organization_id, count(), groupUniqArrayArray(${ATTRIBUTE_KEYS_MAX})(mapKeys(attrs))
    FROM logs WHERE ${SPAN} GROUP BY organization_id ORDER BY organization_id`;
  const rows = await readRows(endpoint, sql, spanParameters(span), signal);
  return new Map(
    rows.map(([id, entries, names]) => {
      const keys = new Set(Array.isArray(names) ? names.map(String) : []);
      const attributeKeys = keys.size < ATTRIBUTE_KEYS_MAX ? keys : null;
      return [Number(id), { entries: Number(entries), attributeKeys }];
    }),
  );
}

/** The id of the entry of that number in the span, counted from 1. */
export async function idOfEntry(
  endpoint: ClickHouseEndpoint,
  span: MadeSpan,
  number: number,
  signal: AbortSignal,
): Promise<bigint | null> {
  const sql = `SELECT toString(id) FROM logs WHERE ${SPAN} ORDER BY id LIMIT 1 OFFSET {offset: UInt64}`;
  const parameters = { ...spanParameters(span), offset: String(number - 1) };
  const [row] = await readRows(endpoint, sql, parameters, signal);
  return row === undefined ? null : BigInt(String(row[0]));
}

/** The parameters of `SPAN`. */
export function spanParameters({ instance, after, through }: MadeSpan): Record<string, string> {
  return {
    instance: String(instance),
    after: String(after < 0n ? 0n : after),
    through: String(through ?? LARGEST_ID),
  };
}

import { type EntryIds, type EntrySpan, INSTANCE_COUNT } from "../../ingest/index.ts";
import { DependencyError } from "../errors.ts";
import type { ClickHouseEndpoint } from "./clickhouse.ts";
import { askClickHouse } from "./clickhouse-http.ts";

/** Where entries lie: a table, or a table function whose texts travel as parameters. */
export interface EntryTable {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** A row of the answer: UInt32 and UInt64. */
const ROW_BYTES = 12;

/**
 * Which entries of the span lie there. The ids alone say which they are; the partition and the primary key find them
 * by the day of receipt and the organisations.
 */
export async function lookUpEntries(
  endpoint: ClickHouseEndpoint,
  table: EntryTable,
  span: EntrySpan,
  signal: AbortSignal,
): Promise<EntryIds> {
  const statement = `SELECT organization_id, id FROM ${table.sql}
    WHERE organization_id BETWEEN {firstOrganization: UInt32} AND {lastOrganization: UInt32}
      AND received_at BETWEEN fromUnixTimestamp64Milli({firstReceived: Int64}, 'UTC')
                          AND fromUnixTimestamp64Milli({lastReceived: Int64}, 'UTC')
      AND id BETWEEN {firstId: UInt64} AND {lastId: UInt64}
      AND id % {instances: UInt64} = {firstId: UInt64} % {instances: UInt64}
    FORMAT RowBinary`;
  const settings = new URLSearchParams({
    database: endpoint.database,
    wait_end_of_query: "1",
    // Where the store has copies, the one that answers has to know of every insert that was acknowledged.
    select_sequential_consistency: "1",
  });
  for (const [name, value] of Object.entries({ ...table.parameters, ...parametersOf(span) }))
    settings.set(`param_${name}`, value);
  const answer = await askClickHouse(endpoint, settings, new Blob([statement]), signal);
  return idsIn(new DataView(await answer.arrayBuffer()));
}

function parametersOf({ firstId, lastId, organizations, receivedMs }: EntrySpan): Record<string, string> {
  return {
    firstId: String(firstId),
    lastId: String(lastId),
    instances: String(INSTANCE_COUNT),
    firstOrganization: String(organizations.min),
    lastOrganization: String(organizations.max),
    firstReceived: String(receivedMs.min),
    lastReceived: String(receivedMs.max),
  };
}

function idsIn(rows: DataView): EntryIds {
  if (rows.byteLength % ROW_BYTES !== 0)
    throw new DependencyError("clickhouse", "the answer to a look-up of entries is cut off", {
      retryable: true,
    });
  const ids = new Map<number, Set<bigint>>();
  for (let at = 0; at < rows.byteLength; at += ROW_BYTES) {
    const organization = rows.getUint32(at, true);
    const id = rows.getBigUint64(at + 4, true);
    const known = ids.get(organization);
    if (known === undefined) ids.set(organization, new Set([id]));
    else known.add(id);
  }
  return ids;
}

/** The ids of both. */
export function unionOf(left: EntryIds, right: EntryIds): EntryIds {
  const union = new Map(left);
  for (const [organization, ids] of right)
    union.set(organization, ids.union(left.get(organization) ?? new Set()));
  return union;
}

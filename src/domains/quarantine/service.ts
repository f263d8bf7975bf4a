import type { Sql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { ApiError } from "../../errors.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { readUsage } from "./kept-records.ts";
import { DISCARD_MAX_RECORDS, SUMMARY_MAX_GROUPS } from "./limits.ts";
import type { QuarantineMetrics } from "./quarantine-metrics.ts";
import { recordJson } from "./record-json.ts";
import { countHeld, deleteHeld, findRecord, type RecordFilter, summarize } from "./record-store.ts";
import type { QuarantinedRecord, Summary } from "./types.ts";

/** The whole record. Throws NOT_FOUND for an id that the organisation has not. */
export async function readRecord(sql: Sql, organizationId: number, id: number): Promise<QuarantinedRecord> {
  const record = await askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => findRecord(tx, organizationId, id)),
  );
  if (record === null) throw noSuchRecord();
  return recordJson(record);
}

/** What the organisation's quarantine holds, by source and reason, and how much of it there may be. */
export async function readSummary(
  sql: Sql,
  organizationId: number,
  bounds: { readonly maxRecords: number; readonly maxBytes: number },
): Promise<Summary> {
  return askPostgres(() =>
    inOrganization(sql, organizationId, async (tx) => {
      const usage = await readUsage(tx, organizationId);
      const groups = await summarize(tx, organizationId, SUMMARY_MAX_GROUPS);
      return {
        ...usage,
        ...bounds,
        groups: groups.map(({ firstReceivedAt, lastReceivedAt, ...group }) => ({
          ...group,
          firstReceivedAt: firstReceivedAt.toISOString(),
          lastReceivedAt: lastReceivedAt.toISOString(),
        })),
      };
    }),
  );
}

/** Throws NOT_FOUND for an id that the organisation has not, CONFLICT for a record that is being or was replayed. */
export async function discardRecord(change: Change, id: number, metrics: QuarantineMetrics): Promise<void> {
  const { tx, organizationId } = change;
  const record = await findRecord(tx, organizationId, id);
  if (record === null) throw noSuchRecord();
  const { records } = await deleteHeld(tx, organizationId, { ids: [id] }, 1);
  if (records === 0)
    throw new ApiError("CONFLICT", "The record is being replayed or was replayed; it cannot be discarded.");
  change.record({ resource: `quarantined-record:${id}`, before: recordJson(record) });
  change.afterCommit(() => metrics.records.inc({ outcome: "discarded" }, records));
}

/** Discards records that are held and match, as many as one transaction takes, and says how many are left. */
export async function discardRecords(
  change: Change,
  filter: RecordFilter,
  metrics: QuarantineMetrics,
): Promise<{ discarded: number; remaining: number }> {
  const { tx, organizationId } = change;
  const { records: discarded, bytes } = await deleteHeld(tx, organizationId, filter, DISCARD_MAX_RECORDS);
  const { records: remaining } = await countHeld(tx, organizationId, filter, {
    after: 0,
    upTo: Number.MAX_SAFE_INTEGER,
  });
  change.record({ resource: "quarantine", facts: { ...factsOf(filter), discarded, bytes } });
  change.afterCommit(() => metrics.records.inc({ outcome: "discarded" }, discarded));
  return { discarded, remaining };
}

/** What a filter says, for the audit log; of a list of ids only how many there are. */
export function factsOf({ ids, ...filter }: RecordFilter): Record<string, string | number> {
  const facts: Record<string, string | number> = ids === undefined ? {} : { ids: ids.length };
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) facts[name] = value;
  return facts;
}

function noSuchRecord(): ApiError {
  return new ApiError("NOT_FOUND", "No such quarantined record.");
}

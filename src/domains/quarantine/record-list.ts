import type { Sql } from "postgres";
import { validationFailed } from "../../errors.ts";
import { type CursorSeal, openCursor, sealCursor } from "../../http/sealed-cursor.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { PAGE_DEFAULT_RECORDS, SHOWN_RAW_BYTES } from "./limits.ts";
import { recordJson } from "./record-json.ts";
import { findRecords } from "./record-store.ts";
import type { ListParameters, RecordPage } from "./types.ts";

interface RecordListDependencies {
  readonly sql: Sql;
  /** Signs cursors; the same for every instance of the server. */
  readonly cursorKey: Uint8Array;
}

// 8 bytes of the id of the last record shown.
const PAYLOAD_BYTES = 8;

/** One page of the records that match, newest first. Throws VALIDATION_FAILED for a cursor that is not of these filters. */
export async function listRecords(
  { sql, cursorKey }: RecordListDependencies,
  organizationId: number,
  { limit = PAGE_DEFAULT_RECORDS, cursor, state, ...filter }: ListParameters,
): Promise<RecordPage> {
  const seal = {
    key: cursorKey,
    organizationId,
    purpose: `quarantine ${JSON.stringify([
      state ?? null,
      filter.sourceKey ?? null,
      filter.format ?? null,
      filter.reason ?? null,
      filter.from ?? null,
      filter.to ?? null,
    ])}`,
  };
  const page = {
    state: state ?? null,
    before: cursor === undefined ? null : placeOf(cursor, seal),
    // One more than is shown says whether there is a next page.
    limit: limit + 1,
    rawBytes: SHOWN_RAW_BYTES,
  };
  const found = await askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => findRecords(tx, organizationId, filter, page)),
  );
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const nextCursor = found.length > limit && last !== undefined ? cursorOf(last.id, seal) : null;
  return { items: shown.map(recordJson), nextCursor };
}

function cursorOf(id: number, seal: CursorSeal): string {
  const payload = Buffer.alloc(PAYLOAD_BYTES);
  payload.writeBigUInt64BE(BigInt(id));
  return sealCursor(payload, seal);
}

function placeOf(cursor: string, seal: CursorSeal): number {
  const payload = openCursor(cursor, PAYLOAD_BYTES, seal);
  if (payload === null)
    throw validationFailed([
      { path: "/cursor", code: "invalid_string", message: "is not a cursor of this list" },
    ]);
  return Number(payload.readBigUInt64BE());
}

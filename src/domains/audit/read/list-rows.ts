import type { Sql } from "postgres";
import { readAudit, type StoredRow } from "../../../audit/audit-rows.ts";
import { PAGE_DEFAULT_ROWS } from "../../../audit/limits.ts";
import { validationFailed } from "../../../errors.ts";
import { type CursorSeal, openCursor, sealCursor } from "../../../http/sealed-cursor.ts";
import { type AuditFilter, auditFilterOf, filterText } from "./audit-filter.ts";
import { findPlaces, findRows, type Places } from "./audit-store.ts";
import type { ListParameters } from "./types.ts";

interface ListDependencies {
  readonly sql: Sql;
  /** Signs cursors; the same for every instance of the server. */
  readonly cursorKey: Uint8Array;
}

export interface Page {
  /** Newest first. */
  readonly rows: readonly StoredRow[];
  readonly nextCursor: string | null;
}

// 1 byte version, 8 lowest place, 8 highest.
const VERSION = 1;
const PAYLOAD_BYTES = 17;

/**
 * One page of what matches. The first page finds out between which places of the chain all of it lies; later pages
 * show nothing beyond, whatever is added meanwhile. Throws VALIDATION_FAILED for a cursor that is not of these filters.
 */
export async function listRows(
  { sql, cursorKey }: ListDependencies,
  organizationId: number,
  { limit = PAGE_DEFAULT_ROWS, cursor, ...parameters }: ListParameters,
): Promise<Page> {
  const filter = auditFilterOf(parameters);
  const seal = sealOf(cursorKey, organizationId, filter);
  const begun = cursor === undefined ? null : placesOf(cursor, seal);
  return readAudit(sql, organizationId, async (tx) => {
    const places = begun ?? (await findPlaces(tx, organizationId, filter));
    if (places === null) return { rows: [], nextCursor: null };
    // One more than is shown says whether there is a next page.
    const order = { newestFirst: true, limit: limit + 1 };
    const found = await findRows(tx, organizationId, filter, places, order);
    const rows = found.slice(0, limit);
    const next = found[limit];
    const nextCursor =
      next === undefined ? null : cursorOf({ lowest: places.lowest, highest: next.row.seq }, seal);
    return { rows, nextCursor };
  });
}

function sealOf(key: Uint8Array, organizationId: number, filter: AuditFilter): CursorSeal {
  return { key, organizationId, purpose: `audit-logs ${filterText(filter)}` };
}

function cursorOf({ lowest, highest }: Places, seal: CursorSeal): string {
  const payload = Buffer.alloc(PAYLOAD_BYTES);
  payload.writeUInt8(VERSION, 0);
  payload.writeBigUInt64BE(BigInt(lowest), 1);
  payload.writeBigUInt64BE(BigInt(highest), 9);
  return sealCursor(payload, seal);
}

function placesOf(cursor: string, seal: CursorSeal): Places {
  const payload = openCursor(cursor, PAYLOAD_BYTES, seal);
  if (payload === null || payload.readUInt8(0) !== VERSION)
    throw validationFailed([
      { path: "/cursor", code: "invalid_string", message: "is not a cursor of this list" },
    ]);
  return { lowest: Number(payload.readBigUInt64BE(1)), highest: Number(payload.readBigUInt64BE(9)) };
}

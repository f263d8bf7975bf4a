import type { Sql } from "postgres";
import { validationFailed } from "../../errors.ts";
import { type CursorSeal, openCursor, sealCursor } from "../../http/sealed-cursor.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { storableText } from "../../storage/storable-text.ts";
import { type GroupPosition, otherErrors, pageOfGroups } from "./group-store.ts";
import { PAGE_DEFAULT } from "./limits.ts";
import type { ErrorGroupList, ListParameters } from "./types.ts";

export interface ListDependencies {
  readonly sql: Sql;
  /** Signs cursors; the same for every instance of the server. */
  readonly cursorKey: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

// 1 byte version, 8 time of the last group in milliseconds, 8 its id.
const VERSION = 1;
const PAYLOAD_BYTES = 17;
const DAY_MS = 86_400_000;

/** One page, those first that were there last. Throws VALIDATION_FAILED for a cursor of another list. */
export async function listGroups(
  { sql, cursorKey, now }: ListDependencies,
  organizationId: number,
  { status = "open", service, limit = PAGE_DEFAULT, cursor }: ListParameters,
): Promise<ErrorGroupList> {
  const filter = { status, service: service === undefined ? null : storableText(service) };
  const seal = { key: cursorKey, purpose: `log-errors ${JSON.stringify(filter)}`, organizationId };
  const after = cursor === undefined ? null : openedCursor(cursor, seal);
  const { found, other } = await askPostgres(() =>
    inOrganization(sql, organizationId, async (tx) => ({
      // One more than is shown says whether there is a next page.
      found: await pageOfGroups(tx, organizationId, filter, after, limit + 1),
      other: await otherErrors(tx, organizationId, now() - DAY_MS),
    })),
  );
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const nextCursor =
    found.length <= limit || last === undefined
      ? null
      : cursorText({ activeAtMs: last.activeAtMs, id: last.group.id }, seal);
  return { items: shown.map(({ group }) => group), nextCursor, other };
}

function cursorText({ activeAtMs, id }: GroupPosition, seal: CursorSeal): string {
  const payload = Buffer.alloc(PAYLOAD_BYTES);
  payload.writeUInt8(VERSION, 0);
  payload.writeBigInt64BE(BigInt(activeAtMs), 1);
  payload.writeBigInt64BE(BigInt(id), 9);
  return sealCursor(payload, seal);
}

function openedCursor(text: string, seal: CursorSeal): GroupPosition {
  const payload = openCursor(text, PAYLOAD_BYTES, seal);
  if (payload === null || payload.readUInt8(0) !== VERSION)
    throw validationFailed([
      { path: "/cursor", code: "invalid_string", message: "is not a cursor of this list" },
    ]);
  return { activeAtMs: Number(payload.readBigInt64BE(1)), id: Number(payload.readBigInt64BE(9)) };
}

import { validationFailed } from "../../../errors.ts";
import { type CursorSeal, openCursor, sealCursor } from "../../../http/sealed-cursor.ts";
import type { QueryCaller } from "../../../storage/query-runner.ts";
import type { CheckPosition } from "./check-plans.ts";
import type { CheckRows } from "./check-rows.ts";
import { spanOf } from "./time-span.ts";
import { type CheckList, type CheckListParameters, PAGE_DEFAULT } from "./types.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** As long as checks are kept. */
const KEPT_MS = 400 * DAY_MS;

interface ListDependencies {
  readonly rows: CheckRows;
  /** Signs cursors; the same for every instance of the server. */
  readonly cursorKey: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

// 1 byte version, 8 time of the last check in milliseconds, 8 the end of the first page, 16 its region.
const VERSION = 1;
const REGION_BYTES = 16;
const PAYLOAD_BYTES = 17 + REGION_BYTES;

interface CheckCursor {
  readonly after: CheckPosition;
  /** Later pages show nothing that came after the first. */
  readonly toMs: number;
}

/** One page, newest first. Throws VALIDATION_FAILED for a cursor of another list, and what `CheckRows` throws. */
export async function listChecks(
  { rows, cursorKey, now }: ListDependencies,
  caller: QueryCaller,
  monitorId: number,
  { limit = PAGE_DEFAULT, cursor, ...parameters }: CheckListParameters,
): Promise<CheckList> {
  const { from = "", to = "" } = parameters;
  const seal = {
    key: cursorKey,
    purpose: `checks ${monitorId} ${from} ${to}`,
    organizationId: caller.organizationId,
  };
  const begun = cursor === undefined ? null : openedCursor(cursor, seal);
  const span = spanOf(parameters, begun?.toMs ?? now() + 1, KEPT_MS);
  // One more than is shown says whether there is a next page.
  const found = await rows.page(caller, { monitorId, span }, begun?.after ?? null, limit + 1);
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (found.length <= limit || last === undefined) return { items, nextCursor: null };
  const after = { startedAtMs: Date.parse(last.startedAt), region: last.region };
  return { items, nextCursor: cursorText({ after, toMs: span.toMs }, seal) };
}

function cursorText({ after, toMs }: CheckCursor, seal: CursorSeal): string {
  const payload = Buffer.alloc(PAYLOAD_BYTES);
  payload.writeUInt8(VERSION, 0);
  payload.writeBigInt64BE(BigInt(after.startedAtMs), 1);
  payload.writeBigInt64BE(BigInt(toMs), 9);
  payload.write(after.region, 17, REGION_BYTES, "utf8");
  return sealCursor(payload, seal);
}

function openedCursor(text: string, seal: CursorSeal): CheckCursor {
  const payload = openCursor(text, PAYLOAD_BYTES, seal);
  if (payload === null || payload.readUInt8(0) !== VERSION)
    throw validationFailed([
      { path: "/cursor", code: "invalid_string", message: "is not a cursor of this list" },
    ]);
  const region = payload.subarray(17).toString("utf8").replace(/\0+$/, "");
  const after = { startedAtMs: Number(payload.readBigInt64BE(1)), region };
  return { after, toMs: Number(payload.readBigInt64BE(9)) };
}

import type { Sql } from "postgres";
import { type Static, Type } from "typebox";
import { listUnits } from "../../../archive/reading/store.ts";
import { validationFailed } from "../../../errors.ts";
import { openCursor, sealCursor } from "../../../http/sealed-cursor.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { inOrganization } from "../../../storage/organization-transaction.ts";
import { formatNs } from "../entry-time.ts";
import { UNITS_CURSOR_MAX_CHARS, UNITS_PAGE_DEFAULT, UNITS_PAGE_MAX } from "./limits.ts";

export const UnitParameters = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: UNITS_PAGE_MAX, description: `${UNITS_PAGE_DEFAULT} by default.` }),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: UNITS_CURSOR_MAX_CHARS,
        description: "`nextCursor` of the page before. `limit` may differ.",
      }),
    ),
  },
  { additionalProperties: false },
);

const DateTime = Type.String({ format: "date-time", examples: ["2026-10-21T23:59:58.123456789Z"] });

const ArchivedUnit = Type.Object(
  {
    id: Type.Integer({ examples: [17] }),
    day: Type.String({
      format: "date",
      description: "The day of receipt, in UTC.",
      examples: ["2026-10-21"],
    }),
    state: Type.Enum(["moving", "archived"], {
      description: "The log store may still have entries of a unit that is moving; none is shown twice.",
    }),
    entries: Type.Integer({ examples: [311_951] }),
    bytes: Type.Integer({ description: "Of the file.", examples: [2_700_000] }),
    from: DateTime,
    to: DateTime,
    file: Type.String({
      description: "Its name below the archive's directory or prefix; a Parquet file.",
      examples: ["1/2026-10-21/17-4f1c2ab9.parquet"],
    }),
    archivedAt: Type.Union([DateTime, Type.Null()], { description: "Null while it is moving." }),
  },
  { $id: "ArchivedUnit" },
);

export const UnitPage = Type.Object(
  {
    items: Type.Array(ArchivedUnit),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: "What `cursor` of the next page is; null on the last one.",
      examples: [null],
    }),
  },
  { $id: "ArchivedUnitPage" },
);

// 8 bytes of the id of the last unit shown.
const PAYLOAD_BYTES = 8;

interface UnitListDependencies {
  readonly sql: Sql;
  /** Signs cursors; the same for every instance of the server. */
  readonly cursorKey: Uint8Array;
}

/** One page of the units that an organisation's archive has, the last archived first. Throws VALIDATION_FAILED for a foreign cursor. */
export async function listArchivedUnits(
  { sql, cursorKey }: UnitListDependencies,
  organizationId: number,
  { limit = UNITS_PAGE_DEFAULT, cursor }: Static<typeof UnitParameters>,
): Promise<Static<typeof UnitPage>> {
  const seal = { key: cursorKey, organizationId, purpose: "archive units" };
  const before = cursor === undefined ? null : openCursor(cursor, PAYLOAD_BYTES, seal);
  if (cursor !== undefined && before === null)
    throw validationFailed([
      { path: "/cursor", code: "invalid_string", message: "is not a cursor of this list" },
    ]);
  const beforeId = before === null ? null : Number(before.readBigUInt64BE());
  // One more than is shown says whether there is a next page.
  const found = await askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => listUnits(tx, organizationId, beforeId, limit + 1)),
  );
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  let nextCursor: string | null = null;
  if (found.length > limit && last !== undefined) {
    const payload = Buffer.alloc(PAYLOAD_BYTES);
    payload.writeBigUInt64BE(BigInt(last.id));
    nextCursor = sealCursor(payload, seal);
  }
  return {
    items: shown.map(({ id, day, isMoving, rows, bytes, minTs, maxTs, name, doneAt }) => ({
      id,
      day,
      state: isMoving ? "moving" : "archived",
      entries: rows,
      bytes,
      from: formatNs(String(minTs)),
      to: formatNs(String(maxTs)),
      file: name,
      archivedAt: doneAt?.toISOString() ?? null,
    })),
    nextCursor,
  };
}

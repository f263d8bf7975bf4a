import type { Sql } from "postgres";
import { isTakenName, type KeptColumn } from "../../../query/index.ts";
import type { Change } from "../../changes/change.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { namesWithin } from "../../kql/kept/kept-directory.ts";
import { releaseRows } from "../../kql/kept/kept-rows.ts";
import { TABLES_MAX } from "../../kql/kept/limits.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization, lockOrganization } from "../../storage/organization-transaction.ts";
import { RecordTable } from "../../storage/record-table.ts";
import { isTableName, KqlTable } from "./types.ts";

const table = new RecordTable("kql_tables", KqlTable);

/** Oldest first. */
export function listTables(sql: Sql, organizationId: number): Promise<KqlTable[]> {
  return askPostgres(() => inOrganization(sql, organizationId, (tx) => table.list(tx, organizationId)));
}

/** Throws NOT_FOUND. */
export async function readTable(sql: Sql, organizationId: number, name: string): Promise<KqlTable> {
  if (!isTableName(name)) return missing();
  const [found] = await askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => table.list(tx, organizationId, tx`name = ${name}`)),
  );
  return found ?? missing();
}

/** Throws VALIDATION_FAILED for a name that no table may have. */
export function checkTableName(name: string): void {
  if (!isTableName(name))
    throw validationFailed([
      {
        path: "/name",
        code: "invalid_string",
        message: "has letters, digits and _ only, and begins with no digit",
      },
    ]);
  if (isTakenName(name))
    throw validationFailed([
      {
        path: "/name",
        code: "custom",
        message: `${name} is a name of the language itself; choose another one`,
      },
    ]);
}

interface Upload {
  readonly columns: readonly KeptColumn[];
  readonly rows: number;
  readonly bytes: number;
  /** The set of rows that is written. */
  readonly rowsId: string;
}

/**
 * Makes the table of that name, or puts these rows in place of its own: whoever queries it has all of the one or all of the
 * other. Throws CONFLICT for one table too many, and for a name that a function has.
 */
export async function putTable(change: Change, name: string, upload: Upload): Promise<KqlTable> {
  const { tx, organizationId, nowMs } = change;
  const count = await table.countLocked(tx, organizationId);
  const [before] = await table.list(tx, organizationId, tx`name = ${name}`);
  if (before === undefined) {
    if (count >= TABLES_MAX)
      throw new ApiError("CONFLICT", `${TABLES_MAX} is the most of this kind (KQL table); delete one first.`);
    if ((await namesWithin(tx, organizationId)).functions.has(name))
      throw new ApiError("CONFLICT", "There is a function of this name.");
  } else await releaseRowsOf(change, before.id);
  const fields = {
    ...upload,
    columns: tx.json(upload.columns.map(({ name: column, type }) => ({ name: column, type }))),
  };
  const after =
    before === undefined
      ? await table.insert(tx, organizationId, { ...fields, name, version: 1 }, nowMs)
      : await table.update(tx, organizationId, before.id, { ...fields, version: before.version + 1 }, nowMs);
  change.record({ resource: `kql-table:${after.id}`, ...(before !== undefined && { before }), after });
  return after;
}

/** Throws NOT_FOUND. */
export async function removeTable(change: Change, name: string): Promise<void> {
  const { tx, organizationId } = change;
  if (!isTableName(name)) return missing();
  await lockOrganization(tx, organizationId);
  const [before] = await table.list(tx, organizationId, tx`name = ${name}`);
  if (before === undefined) return missing();
  await releaseRowsOf(change, before.id);
  await table.remove(tx, organizationId, before.id);
  change.record({ resource: `kql-table:${before.id}`, before });
}

async function releaseRowsOf({ tx, organizationId, nowMs }: Change, id: number): Promise<void> {
  const [row] = await tx<{ rows_id: string }[]>`
    SELECT rows_id::text AS rows_id FROM kql_tables WHERE organization_id = ${organizationId} AND id = ${id}`;
  if (row !== undefined) await releaseRows(tx, organizationId, row.rows_id, nowMs);
}

function missing(): never {
  throw new ApiError("NOT_FOUND", "No such KQL table.");
}

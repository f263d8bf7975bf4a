import type { Fragment, Row, TransactionSql } from "postgres";
import type { Static, TObject, TSchema } from "typebox";
import { lateCheck } from "../late-check.ts";
import { insertRows } from "./insert-rows.ts";
import { lockOrganization } from "./organization-transaction.ts";

/**
 * Reads rows as records of a schema: a property is the column of its name in snake case, a time is written as ISO-8601, a
 * bigint as a number. Throws an Error for a row that is no such record, which is a bug of the table or the schema.
 */
function recordReader<S extends TObject>(schema: S): (row: Row) => Static<S> {
  const names = Object.keys(schema.properties).map((name) => ({ name, column: columnOf(name) }));
  const form = lateCheck(schema);
  return (row) => {
    const record: unknown = Object.fromEntries(
      names.map(({ name, column }) => [name, memberOf(row[column], isInteger(schema.properties[name]))]),
    );
    if (!form.Check(record)) throw new Error(`a row is no record: ${names.map(({ name }) => name).join()}`);
    return record;
  };
}

/** The columns that a schema's properties are read from. */
function columnsOf(schema: TObject): string[] {
  return Object.keys(schema.properties).map(columnOf);
}

/**
 * A table of records that belong to organisations, with `id`, `organization_id`, `created_at` and `updated_at`: the only
 * SQL that such a domain needs. The organisation comes first in each statement.
 */
export class RecordTable<S extends TObject> {
  readonly #table: string;
  readonly #columns: string[];
  readonly #read: (row: Row) => Static<S>;

  constructor(table: string, schema: S) {
    this.#table = table;
    this.#columns = columnsOf(schema);
    this.#read = recordReader(schema);
  }

  /** Oldest first: all that the organisation has, or those that a condition holds for. */
  async list(
    tx: TransactionSql,
    organizationId: number,
    condition: Fragment = tx`true`,
  ): Promise<Static<S>[]> {
    const rows = await tx`
      SELECT ${tx(this.#columns)} FROM ${tx(this.#table)}
      WHERE organization_id = ${organizationId} AND ${condition} ORDER BY id`;
    return rows.map(this.#read);
  }

  /** Newest first, at most so many, of those that a condition holds for. */
  async newest(
    tx: TransactionSql,
    organizationId: number,
    { limit, condition = tx`true` }: { readonly limit: number; readonly condition?: Fragment },
  ): Promise<Static<S>[]> {
    const rows = await tx`
      SELECT ${tx(this.#columns)} FROM ${tx(this.#table)}
      WHERE organization_id = ${organizationId} AND ${condition} ORDER BY id DESC LIMIT ${limit}`;
    return rows.map(this.#read);
  }

  /** Null when the organisation has none of that id. */
  async find(tx: TransactionSql, organizationId: number, id: number): Promise<Static<S> | null> {
    const [row] = await tx`
      SELECT ${tx(this.#columns)} FROM ${tx(this.#table)} WHERE organization_id = ${organizationId} AND id = ${id}`;
    return row === undefined ? null : this.#read(row);
  }

  /** The same, locked until the transaction ends. */
  async lock(tx: TransactionSql, organizationId: number, id: number): Promise<Static<S> | null> {
    const [row] = await tx`
      SELECT ${tx(this.#columns)} FROM ${tx(this.#table)}
      WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`;
    return row === undefined ? null : this.#read(row);
  }

  /** Locks the organisation, so that its records are made one after the other, and counts them. */
  async countLocked(tx: TransactionSql, organizationId: number): Promise<number> {
    await lockOrganization(tx, organizationId);
    const [row] = await tx<{ records: string }[]>`
      SELECT count(*) AS records FROM ${tx(this.#table)} WHERE organization_id = ${organizationId}`;
    return Number(row?.records ?? 0);
  }

  async insert(
    tx: TransactionSql,
    organizationId: number,
    fields: object,
    nowMs: number,
  ): Promise<Static<S>> {
    const now = new Date(nowMs);
    const values = { organization_id: organizationId, ...rowOf(fields), created_at: now, updated_at: now };
    const [row] = await tx`INSERT INTO ${tx(this.#table)} ${tx(values)} RETURNING ${tx(this.#columns)}`;
    if (row === undefined) throw new Error("an insert returned no row");
    return this.#read(row);
  }

  /** Writes many records, and answers them in their order. */
  async insertAll(
    tx: TransactionSql,
    organizationId: number,
    records: readonly object[],
    nowMs: number,
  ): Promise<Static<S>[]> {
    const now = new Date(nowMs);
    const rows = records.map((fields) => ({
      ...{ organization_id: organizationId, ...rowOf(fields), created_at: now, updated_at: now },
    }));
    return (await insertRows(tx, this.#table, rows, this.#columns)).map(this.#read);
  }

  /** Sets the fields that are given; the row is locked by the caller. */
  async update(
    tx: TransactionSql,
    organizationId: number,
    id: number,
    fields: object,
    nowMs: number,
  ): Promise<Static<S>> {
    const [row] = await tx`
      UPDATE ${tx(this.#table)} SET ${tx({ ...rowOf(fields), updated_at: new Date(nowMs) })}
      WHERE organization_id = ${organizationId} AND id = ${id} RETURNING ${tx(this.#columns)}`;
    if (row === undefined) throw new Error("an update of a locked row returned no row");
    return this.#read(row);
  }

  async remove(tx: TransactionSql, organizationId: number, id: number): Promise<void> {
    await tx`DELETE FROM ${tx(this.#table)} WHERE organization_id = ${organizationId} AND id = ${id}`;
  }
}

function columnOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function rowOf(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [columnOf(name), value]));
}

function memberOf(value: unknown, isNumber: boolean): unknown {
  if (value instanceof Date) return value.toISOString();
  return isNumber && typeof value === "string" ? Number(value) : value;
}

/** Whether a property is an integer, or one that may be null: the driver reads a bigint as a text. */
function isInteger(schema: TSchema | undefined): boolean {
  if (schema === undefined) return false;
  if ("type" in schema) return schema.type === "integer";
  return "anyOf" in schema && Array.isArray(schema.anyOf) && schema.anyOf.some(isInteger);
}

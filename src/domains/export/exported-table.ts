import type { TransactionSql } from "postgres";
import { tableRows } from "./table-rows.ts";

/** One kind of thing that an organisation has, and how all of it is read. */
export interface Exporter {
  /** The file is called after it. */
  readonly name: string;
  /** The table it reads, and its columns that are never shown: secrets and hashes. */
  readonly table: string;
  readonly hidden: readonly string[];
  readonly columns: readonly string[];
  readonly rows: (tx: TransactionSql, organizationId: number) => AsyncIterable<object>;
}

/** A table by the names of its columns, with blanks between them; rows are in the order of `key`. */
interface TableColumns {
  readonly key: string;
  readonly columns: string;
  readonly hidden?: string;
}

/** A table of which every column is shown but that of the organisation and the hidden ones. */
export function exportedTable(name: string, table: string, spec: TableColumns): Exporter {
  const columns = spec.columns.split(" ");
  const key = spec.key.split(" ");
  return {
    name,
    table,
    columns,
    hidden: spec.hidden?.split(" ") ?? [],
    rows: (tx, organizationId) =>
      tableRows(
        tx,
        tx`SELECT ${tx(columns)} FROM ${tx(table)} WHERE organization_id = ${organizationId} ORDER BY ${tx(key)}`,
      ),
  };
}

import type { ScalarType } from "./scalar-type.ts";

/** A function as an organisation keeps it; both texts are KQL, as they stand in `let f = (parameters) { body }`. */
export interface KeptFunction {
  readonly name: string;
  /** Without their brackets; empty for none. */
  readonly parameters: string;
  readonly body: string;
}

export interface KeptColumn {
  readonly name: string;
  readonly type: ScalarType;
}

/** A table whose rows lie in the store beside the logs: one of an organisation's own, or the content of a file elsewhere. */
export interface KeptTable {
  /** Under which the rows of the organisation lie: a UInt64 in decimal digits. Rows of another number are other rows. */
  readonly rowsId: string;
  readonly columns: readonly KeptColumn[];
}

/** What an organisation keeps under names for its queries. */
export interface KeptNames {
  readonly functions: ReadonlyMap<string, KeptFunction>;
  readonly tables: ReadonlyMap<string, KeptTable>;
}

export const NOTHING_KEPT: KeptNames = { functions: new Map(), tables: new Map() };

/** Where the rows of kept tables lie; `migrations/clickhouse` creates it. */
export const KEPT_ROWS = {
  table: "kept_rows",
  organizationColumn: "organization_id",
  rowsIdColumn: "rows_id",
  /** An array of texts, one for each column, in the form that `keptCell` makes; empty where there is nothing. */
  cellsColumn: "cells",
} as const;

/** Files elsewhere that a query reads as a table, and how. */
export interface ExternalSource {
  readonly urls: readonly string[];
  readonly columns: readonly KeptColumn[];
  readonly format: ExternalFormat;
  /** Whether the first line of each file holds names. */
  readonly ignoresFirstRecord: boolean;
}

export const EXTERNAL_FORMATS = ["csv", "tsv", "json", "multijson", "txt"] as const;
export type ExternalFormat = (typeof EXTERNAL_FORMATS)[number];

/** What tells external sources apart: the same for the same rows. */
export function externalKey({ urls, columns, format, ignoresFirstRecord }: ExternalSource): string {
  const declared = columns.map(({ name, type }) => [name, type]);
  return JSON.stringify([urls, declared, format, ignoresFirstRecord]);
}

import type { KeptColumn } from "./kept.ts";
import { SCALAR_TYPES, scalarTypeNamed } from "./scalar-type.ts";
import { parseQuery } from "./syntax/parser.ts";

/** Types by their names, as answers name them. */
export const KEPT_COLUMN_TYPES = SCALAR_TYPES;

type ColumnTypes =
  | { readonly ok: true; readonly columns: readonly KeptColumn[] }
  | { readonly ok: false; readonly message: string };

/** The columns that a text declares as `datatable` does, `a: long, b: string`; none for an empty one. */
export function readColumnTypes(text: string): ColumnTypes {
  if (text.trim() === "") return { ok: true, columns: [] };
  const { query, problems } = parseQuery(`datatable(\n${text}\n)[]`);
  const [problem] = problems;
  if (query?.body.kind !== "datatable" || problem !== undefined)
    return {
      ok: false,
      message: `names columns with their types, a: long, b: string. ${problem?.message ?? ""}`.trim(),
    };
  const columns: KeptColumn[] = [];
  for (const { name, type } of query.body.columns) {
    const known = scalarTypeNamed(type.name);
    if (known === undefined) return { ok: false, message: `${type.name} is no type` };
    columns.push({ name: name.name, type: known });
  }
  return { ok: true, columns };
}

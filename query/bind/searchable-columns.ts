import { call } from "../call.ts";
import type { Expression } from "../expression.ts";
import { columnOf } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type { Span } from "../span.ts";
import { convert } from "./conversion.ts";
import { refuse } from "./refusal.ts";

/** The texts of all columns in which `search` and `*` look: strings as they are, anything else as its text. */
export function searchableColumns(relation: Relation, span: Span): Expression[] {
  const columns = relation.columns.filter(({ name }) => !name.startsWith("$"));
  if (columns.length === 0) return refuse("UNKNOWN_NAME", "There is no column here to look in.", span);
  return columns.map(({ name, type }) => {
    const column = columnOf(relation, name);
    if (type === "string") return column;
    return type === "bool" ? call("tostring", column) : convert(column, "string");
  });
}

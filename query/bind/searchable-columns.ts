import { call } from "../call.ts";
import type { Expression } from "../expression.ts";
import { columnOf } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import { convert } from "./conversion.ts";

/** The texts of all columns in which `search` and `*` look: strings as they are, anything else as its text. */
export function searchableColumns(relation: Relation): Expression[] {
  return relation.columns
    .filter(({ name }) => !name.startsWith("$"))
    .map(({ name, type }) => {
      const column = columnOf(relation, name);
      return type === "string"
        ? column
        : type === "bool"
          ? call("tostring", column)
          : convert(column, "string");
    });
}

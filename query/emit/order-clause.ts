import type { BoundSortKey } from "./select-block.ts";

export function sortKey({ identifier, isNullable, direction, nulls }: BoundSortKey): string {
  const order = `${identifier}${direction === "descending" ? " DESC" : ""}`;
  if (!isNullable) return order;
  return `${order}${direction === "ascending" ? " ASC" : ""} NULLS ${nulls === "first" ? "FIRST" : "LAST"}`;
}

export function orderClause(keys: readonly BoundSortKey[]): string {
  return keys.length === 0 ? "" : `ORDER BY ${keys.map(sortKey).join(", ")}`;
}

import type { Expression } from "../expression.ts";
import type { Relation } from "../plan/relation.ts";

/** The conditions on the entries that a relation of `where` alone keeps as they are; null for any other relation. */
export function whereOnly(relation: Relation): readonly Expression[] | null {
  if (relation.kind === "scan") return relation.table === "logs" ? [] : null;
  if (relation.kind !== "filter") return null;
  const before = whereOnly(relation.input);
  return before === null ? null : [...before, relation.predicate];
}

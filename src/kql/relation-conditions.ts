import { type Expression, predicateMatcher, type Relation } from "../../query/index.ts";

/** The conditions of a pipeline of nothing but filters over the logs; null for any other. */
export function conditionsOf(relation: Relation): Expression[] | null {
  if (relation.kind === "scan") return relation.table === "logs" ? [] : null;
  if (relation.kind !== "filter") return null;
  const before = conditionsOf(relation.input);
  return before === null ? null : [...before, relation.predicate];
}

/** True when whether an entry is let through depends on nothing but itself. */
export function judgesRowsApart(query: Relation | null): boolean {
  if (query === null) return true;
  const conditions = conditionsOf(query);
  return conditions !== null && predicateMatcher(conditions) !== null;
}

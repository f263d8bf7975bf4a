import {
  predicateMatcher,
  type Relation,
  type RowBound,
  type RowMatcher,
  rowBound,
} from "../../../../query/index.ts";
import { compileEntryQuery, notAllowedHere } from "../../../kql/issues.ts";
import { conditionsOf } from "../../../kql/relation-conditions.ts";

/** A query that lets entries through one by one. */
interface TailQuery {
  readonly relation: Relation;
  /** Null when only the store can evaluate it. */
  readonly matches: RowMatcher | null;
  /** What all entries fulfil that it lets through; null when nothing is known of them. */
  readonly bound: RowBound | null;
}

/** Throws KQL_INVALID for a text that is no query, and for one that does more than let entries through. */
export function readTailQuery(text: string, nowMs: number): TailQuery {
  const relation = compileEntryQuery(text, nowMs);
  const conditions = conditionsOf(relation);
  if (conditions === null)
    throw notAllowedHere(text, "A tail lets entries through one by one: only `where` can stand here.");
  return { relation, matches: predicateMatcher(conditions), bound: rowBound(conditions) };
}

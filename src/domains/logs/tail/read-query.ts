import {
  predicateMatcher,
  type Relation,
  type RowBound,
  type RowMatcher,
  rowBound,
} from "../../../../query/index.ts";
import { ApiError, type QueryIssue } from "../../../errors.ts";
import { compileEntryQuery } from "../../../kql/issues.ts";
import { conditionsOf } from "../../../kql/relation-conditions.ts";

/** A query that lets entries through one by one. */
interface TailQuery {
  readonly relation: Relation;
  /** Null when only the store can evaluate it. */
  readonly matches: RowMatcher | null;
  /** What all entries fulfil that it lets through; null when nothing is known of them. */
  readonly bound: RowBound | null;
}

/** Characters of the text that a refusal repeats. */
const EXCERPT_MAX_CHARS = 80;

/** Throws KQL_INVALID for a text that is no query, and for one that does more than let entries through. */
export function readTailQuery(text: string, nowMs: number): TailQuery {
  const relation = compileEntryQuery(text, nowMs);
  const conditions = conditionsOf(relation);
  if (conditions === null) throw notConditionsAlone(text);
  return { relation, matches: predicateMatcher(conditions), bound: rowBound(conditions) };
}

function notConditionsAlone(text: string): ApiError {
  const message = "A tail lets entries through one by one: only `where` can stand here.";
  const issue: QueryIssue = {
    path: "/query",
    code: "UNSUPPORTED",
    message,
    line: 1,
    column: 1,
    start: 0,
    end: text.length,
    text: text.slice(0, EXCERPT_MAX_CHARS),
    suggestion: null,
  };
  return new ApiError("KQL_INVALID", `The query is not valid: ${message}`, { fields: [issue] });
}

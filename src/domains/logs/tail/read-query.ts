import {
  compileKql,
  type Expression,
  predicateMatcher,
  type Relation,
  type RowMatcher,
} from "../../../../query/index.ts";
import { validationFailed } from "../../../http/validate.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** A query that lets entries through one by one. */
export interface TailQuery {
  readonly relation: Relation;
  /** Null when only the store can evaluate it. */
  readonly matches: RowMatcher | null;
}

/** Throws VALIDATION_FAILED for a text that is no query, and for one that does more than let entries through. */
export function readTailQuery(text: string, nowMs: number): TailQuery {
  const compiled = compileKql(text, { nowNs: BigInt(nowMs) * NANOS_PER_MILLI });
  if (!compiled.ok)
    throw validationFailed(
      compiled.diagnostics.map(({ message, line, column }) => ({
        path: "/query",
        code: "custom",
        message: `${message} (line ${line}, column ${column})`,
      })),
    );
  const { relation } = compiled.query;
  const conditions = conditionsOf(relation);
  if (conditions === null)
    throw validationFailed([
      {
        path: "/query",
        code: "custom",
        message: "does more than let entries through: a tail takes `where` alone",
      },
    ]);
  return { relation, matches: predicateMatcher(conditions) };
}

/** The conditions of a pipeline of nothing but filters over the logs; null for any other. */
function conditionsOf(relation: Relation): Expression[] | null {
  if (relation.kind === "scan") return relation.table === "logs" ? [] : null;
  if (relation.kind !== "filter") return null;
  const before = conditionsOf(relation.input);
  return before === null ? null : [...before, relation.predicate];
}

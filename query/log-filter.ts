import { allOf, anyOf, call } from "./call.ts";
import { type Expression, literal } from "./expression.ts";
import { columnOf, filter, scan } from "./plan/build.ts";
import type { Relation } from "./plan/relation.ts";
import type { SearchCondition } from "./search-syntax.ts";

/** Which log entries are meant; null and absence mean any. Everything that reads logs filters through this. */
export interface LogFilter {
  readonly search: SearchCondition | null;
  readonly service: string | null;
  readonly level: string | null;
  /** A compiled query that keeps entries as they are. */
  readonly query?: Relation | null;
}

/** The entries that the filter lets through. The cheap conditions come first: ClickHouse tries them in this order. */
export function filteredLogs({ search, service, level, query }: LogFilter): Relation {
  const logs = query ?? scan("logs");
  const conditions: Expression[] = [];
  if (level !== null) conditions.push(call("equal", columnOf(logs, "level"), literal("string", level)));
  if (service !== null) conditions.push(call("equal", columnOf(logs, "service"), literal("string", service)));
  if (search !== null) conditions.push(searchPredicate(search, columnOf(logs, "message")));
  return conditions.length === 0 ? logs : filter(logs, allOf(conditions));
}

/** The condition on the text that `subject` gives. */
export function searchPredicate(condition: SearchCondition, subject: Expression): Expression {
  switch (condition.kind) {
    case "text":
      return call("contains", subject, literal("string", condition.text));
    case "not":
      return call("negation", searchPredicate(condition.operand, subject));
    case "all":
      return allOf(condition.operands.map((operand) => searchPredicate(operand, subject)));
    case "any":
      return anyOf(condition.operands.map((operand) => searchPredicate(operand, subject)));
  }
}

import { allOf, anyOf, call, type Expression, literal } from "./expression.ts";
import { columnOf, filter, type Relation, scan } from "./plan.ts";
import type { SearchCondition } from "./search-syntax.ts";

/** Which log entries are meant; null and absence mean any. Everything that reads logs filters through this. */
export interface LogFilter {
  readonly search: SearchCondition | null;
  readonly service: string | null;
  readonly level: string | null;
}

/** The entries that the filter lets through. The cheap conditions come first: ClickHouse tries them in this order. */
export function filteredLogs({ search, service, level }: LogFilter): Relation {
  const logs = scan("logs");
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
      return call("not", searchPredicate(condition.operand, subject));
    case "all":
      return allOf(condition.operands.map((operand) => searchPredicate(operand, subject)));
    case "any":
      return anyOf(condition.operands.map((operand) => searchPredicate(operand, subject)));
  }
}

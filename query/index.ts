/**
 * The query library: from a filter or a query text to a statement for ClickHouse. Pure; it reads and writes nothing.
 *
 * | stage | takes | gives |
 * |---|---|---|
 * | `parseSearch` | the text of `q` | `SearchCondition` |
 * | `filteredLogs` | `LogFilter` | `Relation` |
 * | `filter`, `sort`, ... | `Relation` | `Relation` |
 * | `guardPlan` | `Relation`, `QueryScope` | `GuardedPlan` |
 * | `emit` | `GuardedPlan` | `CompiledQuery` |
 */

export type { WireFormat } from "./emit/wire-format.ts";
export { type CompiledColumn, type CompiledQuery, emit } from "./emit.ts";
export { QueryError, type QueryErrorCode } from "./errors.ts";
export {
  allOf,
  anyOf,
  attribute,
  call,
  column,
  type Expression,
  literal,
} from "./expression.ts";
export { ALL_TIME, GuardedPlan, guardPlan, type QueryScope, type TimeRange } from "./guard.ts";
export {
  DECORATION_BUDGET,
  INTERACTIVE_BUDGET,
  type QueryBudget,
  RESULT_MAX_ROWS,
  SEARCH_TEXT_MAX_CHARS,
} from "./limits.ts";
export { filteredLogs, type LogFilter, searchPredicate } from "./log-filter.ts";
export {
  aggregate,
  aggregateCall,
  columnOf,
  extend,
  filter,
  keep,
  limit,
  type NamedExpression,
  type PlanColumn,
  project,
  type Relation,
  type SortKey,
  scan,
  sort,
} from "./plan.ts";
export type { ScalarType } from "./scalar-type.ts";
export { parseSearch, type SearchCondition, type SearchParse } from "./search-syntax.ts";
export type { QuerySettings } from "./settings.ts";
export type { Span } from "./span.ts";

/**
 * The query library: from a filter or a query text to a statement for ClickHouse. Pure; it reads and writes nothing.
 *
 * | stage | takes | gives |
 * |---|---|---|
 * | `parseSearch` | the text of `q` | `SearchCondition` |
 * | `filteredLogs` | `LogFilter` | `Relation` |
 * | `filter`, `sort`, ... | `Relation` | `Relation` |
 * | `guardPlan` | `Relation`, `QueryScope` | `GuardedPlan` |
 * | `guardPlanOfEach` | `Aggregate`, `EachScope` | `GuardedPlan` |
 * | `emit` | `GuardedPlan` | `CompiledQuery` |
 */

export {
  type AttributeColumn,
  type AttributeColumns,
  attributeColumnOf,
  attributeInMap,
  attributeKind,
} from "./attribute-columns.ts";
export type { DiscoveredRows } from "./bind/discovery.ts";
export type { BareName, MissingTable } from "./bind/environment.ts";
export { nearestName } from "./bind/nearest-name.ts";
export type { KqlQuery, RenderHint } from "./bind/query.ts";
export { allOf, anyOf, call } from "./call.ts";
export {
  type FunctionCapability,
  type KqlCapabilities,
  kqlCapabilities,
  type TableCapability,
} from "./capabilities.ts";
export { caseOf, type OrganizationCase } from "./case-of.ts";
export { KEPT_COLUMN_TYPES, readColumnTypes } from "./column-types.ts";
export { completeKql, type KnownFields } from "./complete-query.ts";
export type { Completion, NamedColumn } from "./completion/vocabulary.ts";
export type { WireFormat } from "./emit/wire-format.ts";
export { type CompiledColumn, type CompiledQuery, emit } from "./emit.ts";
export { QueryError, type QueryErrorCode } from "./errors.ts";
export { attribute, column, type Expression, literal } from "./expression.ts";
export { type FileSource, fileTable } from "./file-source.ts";
export { type EachScope, GuardedPlan, guardPlan, guardPlanOfEach, type QueryScope } from "./guard.ts";
export { holdsAny } from "./holds-any.ts";
export {
  type ExternalFormat,
  type ExternalSource,
  externalKey,
  KEPT_ROWS,
  type KeptColumn,
  type KeptFunction,
  type KeptNames,
  type KeptTable,
  NOTHING_KEPT,
} from "./kept.ts";
export { checkKeptFunction, isTakenName, type KeptDiagnostic } from "./kept-functions.ts";
export {
  compileKql,
  type Diagnostic,
  type KqlCompilation,
  type KqlOptions,
} from "./kql.ts";
export {
  type Library,
  type LibraryFunction,
  type LibraryFunctionName,
  NO_LIBRARY,
  UNCOMPUTED_LIBRARY,
} from "./library.ts";
export {
  DECORATION_BUDGET,
  DISCOVERY_MAX_ROWS,
  INTERACTIVE_BUDGET,
  type QueryBudget,
  RESULT_MAX_ROWS,
  SEARCH_TEXT_MAX_CHARS,
} from "./limits.ts";
export { filteredLogs, type LogFilter, searchPredicate } from "./log-filter.ts";
export { predicateMatcher } from "./match/predicate.ts";
export type { MatchRow, RowMatcher } from "./match/row.ts";
export { columnsIn, messageConditions, type RowBound, rowBound } from "./match/row-bound.ts";
export { RowSet } from "./match/row-set.ts";
export { SearchIndex, type TextRows } from "./match/search-index.ts";
export { TermFinder, termsOf } from "./match/term-finder.ts";
export {
  countsPerValue,
  differentValues,
  isAmong,
  type MessageKind,
  messageForm,
  messageKind,
  mostFrequent,
  oneText,
  timeBucket,
} from "./message-forms.ts";
export { ABSENT_TOKEN, messageWords, WORD_INDEX } from "./message-words.ts";
export { observableCandidates } from "./observables.ts";
export type { OperatorCapability } from "./operators.ts";
export {
  aggregate,
  aggregateCall,
  columnOf,
  extend,
  filter,
  keep,
  limit,
  project,
  scan,
  sort,
  union,
} from "./plan/build.ts";
export type {
  Aggregate,
  ArchivedRows,
  MadeEntries,
  MadeSpan,
  NamedExpression,
  PlanColumn,
  Relation,
  SortKey,
} from "./plan/relation.ts";
export { scannedTime } from "./plan/scanned-time.ts";
export { type ReachTest, reachOf } from "./reach/reach.ts";
export { literalPattern, reachedBy, wholePattern } from "./reach/reached-by.ts";
export type { ScalarType } from "./scalar-type.ts";
export { EVERY_TABLE, LOG_TABLES, MESSAGE_COLUMN, type NamedTables } from "./schema.ts";
export { parseSearch, type SearchCondition, type SearchParse } from "./search-syntax.ts";
export type { QuerySettings } from "./settings.ts";
export type { Span } from "./span.ts";
export { readDatetime } from "./syntax/datetime-text.ts";
export { lineAndColumn } from "./syntax/line-and-column.ts";
export { readTimespan } from "./syntax/timespan-text.ts";
export { ALL_TIME, commonTime, type TimeRange } from "./time-range.ts";

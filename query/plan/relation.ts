import type { AttributeColumns } from "../attribute-columns.ts";
import type { Expression } from "../expression.ts";
import type { FileSource } from "../file-source.ts";
import type { Overload } from "../functions/definition.ts";
import type { KeptTable } from "../kept.ts";
import type { ScalarType } from "../scalar-type.ts";
import type { TableName } from "../schema.ts";
import type { TimeRange } from "../time-range.ts";

/** One column of a relation; names are unique within it and their order is the order of the answer. */
export interface PlanColumn {
  readonly name: string;
  readonly type: ScalarType;
  /** False promises that no value is NULL in SQL. */
  readonly isNullable: boolean;
  /** Attributes, or made of them: they have the type that their use asks for. */
  readonly isLoose?: boolean;
}

export interface NamedExpression {
  readonly name: string;
  readonly expression: Expression;
}

export interface SortKey {
  readonly expression: Expression;
  readonly direction: "ascending" | "descending";
  /** Null: nulls count as the smallest value. */
  readonly nulls?: "first" | "last";
}

export interface AggregateCall {
  readonly name: string;
  readonly aggregate: string;
  readonly overload: Overload;
  readonly operands: readonly Expression[];
  readonly type: ScalarType;
  readonly isNullable: boolean;
  /** One of the values, which were attributes, or made of them. */
  readonly isLoose?: boolean;
}

interface RelationNode<Kind extends string> {
  readonly kind: Kind;
  readonly columns: readonly PlanColumn[];
}

/** The rows of a table. No plan with one can be emitted: the guard puts a `GuardedScan` in its place. */
export interface Scan extends RelationNode<"scan"> {
  readonly table: TableName;
}

/** Entries that one server made one after the other. Ids grow, and their last ten bits are its number. */
export interface MadeSpan {
  readonly instance: number;
  /** Exclusive. */
  readonly after: bigint;
  /** Inclusive; null for no end. */
  readonly through: bigint | null;
}

/** Entries by who made them: those in one of the spans, or those in none. */
export interface MadeEntries {
  readonly are: "in" | "outside";
  readonly spans: readonly MadeSpan[];
}

/** The rows of all organisations, which a plan of `guardPlanOfEach` keeps apart. */
export const EACH_ORGANIZATION = "each";

/** Whose rows are read, of which time, and from where. */
export interface ScanScope {
  readonly organizationId: number | typeof EACH_ORGANIZATION;
  readonly timeRange: TimeRange;
  /** Which rows of `logs`; all when absent. */
  readonly made?: MadeEntries;
  /** Where the rows of `logs` are read instead of the table; every other bound stays. */
  readonly files?: FileSource;
  /** Attributes of `logs` with columns of their own in the table; none when absent. */
  readonly attributeColumns?: AttributeColumns;
  /** Whether the table `logs` has its index of words: statements mean the same without it, and are slow where they count on it in vain. */
  readonly hasWordIndex?: boolean;
  /** Rows of `logs` that lie outside the table and are read together with its own. */
  readonly archived?: ArchivedRows;
}

/** Rows that have left the table, or are about to. */
export interface ArchivedRows {
  readonly files: FileSource;
  /** Those of the files whose rows the table may have as well: there they are passed over. Null for none. */
  readonly moving: FileSource | null;
}

/** The rows of a table that lie in the scope. With `GuardedKeptScan` the only source of stored rows that becomes SQL. */
export interface GuardedScan extends RelationNode<"guardedScan"> {
  readonly table: TableName;
  readonly scope: ScanScope;
}

/** The rows of a kept table. No plan with one can be emitted: the guard puts a `GuardedKeptScan` in its place. */
export interface KeptScan extends RelationNode<"keptScan"> {
  readonly table: KeptTable;
}

/** The rows of a kept table that the organisation has under its number. */
export interface GuardedKeptScan extends RelationNode<"guardedKeptScan"> {
  readonly table: KeptTable;
  readonly organizationId: number;
}

/** Rows that stand in the query; their expressions mention no column. */
export interface Values extends RelationNode<"values"> {
  readonly rows: readonly (readonly Expression[])[];
}

/** `start`, `start + step`, ...: `count` rows of one column. Both expressions are of its type, or a step of time. */
export interface Series extends RelationNode<"series"> {
  readonly start: Expression;
  readonly step: Expression;
  readonly count: number;
}

/** The rows for which the predicate is true. */
export interface Filter extends RelationNode<"filter"> {
  readonly input: Relation;
  readonly predicate: Expression;
}

/** Computes columns beside those of the input; one with the name of an existing column takes its place. */
export interface Extend extends RelationNode<"extend"> {
  readonly input: Relation;
  readonly assignments: readonly NamedExpression[];
}

/** Computes the columns of the answer; the others are gone. */
export interface Project extends RelationNode<"project"> {
  readonly input: Relation;
  readonly assignments: readonly NamedExpression[];
}

/** Orders the rows; nulls count as the smallest value, as in Kusto, unless a key says otherwise. */
export interface Sort extends RelationNode<"sort"> {
  readonly input: Relation;
  readonly keys: readonly SortKey[];
}

/** The first rows, in the order of the input or, without one, any. With `per`: of each combination of these columns. */
export interface Limit extends RelationNode<"limit"> {
  readonly input: Relation;
  readonly maxRows: number;
  readonly per: readonly string[];
}

/** One row per distinct combination of the keys, which are not dynamic; without keys exactly one row. */
export interface Aggregate extends RelationNode<"aggregate"> {
  readonly input: Relation;
  readonly keys: readonly NamedExpression[];
  readonly aggregates: readonly AggregateCall[];
}

export type JoinKind = "inner" | "left" | "right" | "full" | "leftSemi" | "leftAnti";

/** Rows of both sides that agree in all pairs of columns, null with null. The columns' names are those of both sides together. */
export interface Join extends RelationNode<"join"> {
  readonly joinKind: JoinKind;
  readonly left: Relation;
  readonly right: Relation;
  readonly on: readonly { readonly left: string; readonly right: string }[];
  /** What the columns of each side are called in the result; a side that is only looked at has none. */
  readonly leftNames: ReadonlyMap<string, string>;
  readonly rightNames: ReadonlyMap<string, string>;
}

/** The rows of all inputs, which have columns of the same names and types. */
export interface Union extends RelationNode<"union"> {
  readonly inputs: readonly Relation[];
}

/** One row for each element of the arrays, side by side, those that are shorter filled with nothing. */
export interface Expand extends RelationNode<"expand"> {
  readonly input: Relation;
  readonly expansions: readonly {
    readonly name: string;
    /** Dynamic: its elements, the members of a bag as bags of one, nothing as one null. */
    readonly expression: Expression;
  }[];
  /** The name of a column for the position, from 0; null without one. */
  readonly indexName: string | null;
  /** Elements of an array beyond it make no row; null without a limit. */
  readonly maxElements: number | null;
  /** What a member of a bag becomes: a bag of one, or an array of its key and value. */
  readonly members: "bags" | "arrays";
}

type WindowFunction = "rowNumber" | "shift" | "cumulate" | "rank" | "denseRank";

/** What a window function computes of the rows in their order, beginning anew at each row where `restart` is true. */
export interface WindowCall {
  readonly name: string;
  readonly function: WindowFunction;
  readonly operands: readonly Expression[];
  /** Rows to look back (positive) or ahead (negative), for `shift`. */
  readonly offset: number;
  readonly restart: Expression | null;
  readonly type: ScalarType;
}

/** Computes columns from the rows around, in the order of the input. */
export interface Window extends RelationNode<"window"> {
  readonly input: Relation;
  readonly calls: readonly WindowCall[];
}

/** A tabular expression: an immutable tree. A new kind does not compile until every table over kinds has it. */
export type Relation =
  | Scan
  | GuardedScan
  | KeptScan
  | GuardedKeptScan
  | Values
  | Series
  | Filter
  | Extend
  | Project
  | Sort
  | Limit
  | Aggregate
  | Join
  | Union
  | Expand
  | Window;

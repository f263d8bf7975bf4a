import type { Span } from "../span.ts";
import type {
  Argument,
  CallExpression,
  ColumnDeclaration,
  Expression,
  Identifier,
  PipelineExpression,
} from "./tree.ts";

/** `hint.strategy = broadcast`, `kind = inner`, `withsource = name`, ... before the operands of an operator. */
export interface Parameter {
  readonly name: Identifier;
  readonly value: Expression;
}

export interface SortItem {
  readonly expression: Expression;
  /** Null when not written: descending. */
  readonly direction: "asc" | "desc" | null;
  readonly nulls: "first" | "last" | null;
  readonly span: Span;
}

interface OperatorNode<Kind extends string> {
  readonly kind: Kind;
  /** From the operator's name to its last token. */
  readonly span: Span;
  /** The operator's name as written (`filter` for a `where`). */
  readonly keyword: Identifier;
  readonly parameters: readonly Parameter[];
}

export interface WhereOperator extends OperatorNode<"where"> {
  readonly predicate: Expression;
}
/** `search [kind=..] [in (T1, T2)] predicate`; in the predicate a string literal alone is a FieldSearch with left null. */
export interface SearchOperator extends OperatorNode<"search"> {
  readonly tables: readonly Expression[];
  readonly predicate: Expression;
}
/** extend, project, serialize (zero or more), print (one or more), project-by-names: `[name =] value, ...` */
export interface AssignOperator extends OperatorNode<"extend" | "project" | "serialize" | "print"> {
  readonly assignments: readonly Argument[];
}
/** Names or patterns; `project-reorder` may say an order (`asc`, `desc`, `granny-asc`, `granny-desc`) after a pattern. */
export interface NamesOperator extends OperatorNode<"project-away" | "project-keep" | "project-reorder"> {
  readonly names: readonly { readonly expression: Expression; readonly order: string | null }[];
}
/** Also `distinct *`, where the only value is a star. */
export interface DistinctOperator extends OperatorNode<"distinct"> {
  readonly columns: readonly Argument[];
}
export interface RenameOperator extends OperatorNode<"project-rename"> {
  readonly assignments: readonly Argument[];
}
export interface SummarizeOperator extends OperatorNode<"summarize"> {
  readonly aggregates: readonly Argument[];
  readonly by: readonly Argument[];
}
export interface CountOperator extends OperatorNode<"count"> {
  readonly as: Identifier | null;
}
/** take, limit, sample */
export interface TakeOperator extends OperatorNode<"take" | "sample"> {
  readonly count: Expression;
}
export interface SampleDistinctOperator extends OperatorNode<"sample-distinct"> {
  readonly count: Expression;
  readonly of: Expression;
}
export interface TopOperator extends OperatorNode<"top"> {
  readonly count: Expression;
  readonly by: readonly SortItem[];
}
/** Outermost level first. */
export interface TopNestedOperator extends OperatorNode<"top-nested"> {
  readonly levels: readonly {
    readonly count: Expression | null;
    readonly of: Argument;
    readonly others: Expression | null;
    readonly by: Argument;
    readonly direction: "asc" | "desc" | null;
    readonly span: Span;
  }[];
}
/** `top-hitters N of expr [by expr]` */
export interface TopHittersOperator extends OperatorNode<"top-hitters"> {
  readonly count: Expression;
  readonly of: Expression;
  readonly by: Expression | null;
}
/** sort, order */
export interface SortOperator extends OperatorNode<"sort"> {
  readonly by: readonly SortItem[];
}
/** `kind` and hints are among the parameters. `on` empty and `where` null only for a cross join's error. */
export interface JoinOperator extends OperatorNode<"join" | "lookup"> {
  readonly right: Expression;
  /** A name, or `$left.a == $right.b` joined by `and` or commas. */
  readonly on: readonly Expression[];
}
/** As a source or after a pipe; `kind`, `withsource`, `isfuzzy` are among the parameters. */
export interface UnionOperator extends OperatorNode<"union"> {
  readonly tables: readonly Expression[];
}
export interface AsOperator extends OperatorNode<"as"> {
  readonly name: Identifier;
}
/** `range name from low to high step step` */
export interface RangeOperator extends OperatorNode<"range"> {
  readonly name: Identifier;
  readonly from: Expression;
  readonly to: Expression;
  readonly step: Expression;
}
/** parse, parse-where; `kind` and `flags` are among the parameters. */
export interface ParseOperator extends OperatorNode<"parse" | "parse-where"> {
  readonly subject: Expression;
  readonly pattern: readonly ParsePart[];
}
export type ParsePart =
  | { readonly kind: "star"; readonly span: Span }
  | { readonly kind: "text"; readonly text: Expression; readonly span: Span }
  | {
      readonly kind: "column";
      readonly name: Identifier;
      readonly type: Identifier | null;
      readonly span: Span;
    };
/** `parse-kv subject as (a: long, b: string) with (pair_delimiter=.., kv_delimiter=.., quote=.., regex=.., greedy=..)` */
export interface ParseKvOperator extends OperatorNode<"parse-kv"> {
  readonly subject: Expression;
  readonly columns: readonly ColumnDeclaration[];
  readonly options: readonly Parameter[];
}
/** `bagexpansion`/`kind`, `with_itemindex` are among the parameters. */
export interface MvExpandOperator extends OperatorNode<"mv-expand"> {
  readonly columns: readonly ExpandedColumn[];
  readonly limit: Expression | null;
}
/** `mv-apply columns [limit n] [id x] on ( operators )`; the subquery's pipeline has a null source. */
export interface MvApplyOperator extends OperatorNode<"mv-apply"> {
  readonly columns: readonly ExpandedColumn[];
  readonly limit: Expression | null;
  readonly subquery: PipelineExpression;
}
export interface ExpandedColumn {
  readonly argument: Argument;
  /** `to typeof(type)` */
  readonly type: Identifier | null;
}
/** `make-series [n =] agg [default = v], ... on axis [from a to b] step s [by keys]`, also `in range(a, b, s)`. */
export interface MakeSeriesOperator extends OperatorNode<"make-series"> {
  readonly aggregates: readonly { readonly argument: Argument; readonly defaultValue: Expression | null }[];
  readonly on: Argument;
  readonly from: Expression | null;
  readonly to: Expression | null;
  readonly step: Expression;
  readonly by: readonly Argument[];
}
/** `evaluate plugin(arguments) [: (columns)]` */
export interface EvaluateOperator extends OperatorNode<"evaluate"> {
  readonly plugin: CallExpression;
  readonly schema: readonly ColumnDeclaration[] | null;
}
export interface FacetOperator extends OperatorNode<"facet"> {
  readonly by: readonly Expression[];
  /** The operators of `with (...)`: a pipeline with a null source. */
  readonly with: PipelineExpression | null;
}
/** `invoke f(x)`: the call with the table before it as the first argument. */
export interface InvokeOperator extends OperatorNode<"invoke"> {
  readonly call: CallExpression;
}
/** getschema, consume: no operands. */
export interface PlainOperator extends OperatorNode<"getschema" | "consume"> {}
/** `reduce [kind=source] by expr [with threshold=x, characters=y]` */
export interface ReduceOperator extends OperatorNode<"reduce"> {
  readonly by: Expression;
  readonly options: readonly Parameter[];
}
/** `render chart [with (properties)]` */
export interface RenderOperator extends OperatorNode<"render"> {
  readonly chart: Identifier;
  readonly properties: readonly Parameter[];
}
/** An operator of the language that is not supported here: read over, so that it can be refused by name. */
export interface UnsupportedOperator extends OperatorNode<"unsupported"> {}

export type Operator =
  | WhereOperator
  | SearchOperator
  | AssignOperator
  | NamesOperator
  | DistinctOperator
  | RenameOperator
  | SummarizeOperator
  | CountOperator
  | TakeOperator
  | SampleDistinctOperator
  | TopOperator
  | TopNestedOperator
  | TopHittersOperator
  | SortOperator
  | JoinOperator
  | UnionOperator
  | AsOperator
  | RangeOperator
  | ParseOperator
  | ParseKvOperator
  | MvExpandOperator
  | MvApplyOperator
  | MakeSeriesOperator
  | EvaluateOperator
  | FacetOperator
  | InvokeOperator
  | PlainOperator
  | ReduceOperator
  | RenderOperator
  | UnsupportedOperator;

import type { Span } from "../span.ts";
import type { Operator } from "./operator-tree.ts";

export type * from "./operator-tree.ts";

/**
 * The syntax tree of a query, as written: names are not looked up, types are not known. Scalar and tabular expressions
 * share one type, because only the binder can tell what a name stands for. Immutable data; every node says where in
 * the text it stands.
 */
export interface Query {
  /** `let`, and statements that change nothing here (`set`), in their order. */
  readonly statements: readonly Statement[];
  /** The last expression of the text: what is answered. */
  readonly body: Expression;
}

export type Statement = LetStatement | SetStatement;

/** `let name = value` */
export interface LetStatement {
  readonly kind: "let";
  readonly name: Identifier;
  readonly value: Expression | FunctionDeclaration;
  readonly span: Span;
}

/** `set option` or `set option = value`: accepted, has no effect. */
export interface SetStatement {
  readonly kind: "set";
  readonly option: Identifier;
  readonly span: Span;
}

/** `(a: long, b: string = "x", T: (x: long, *)) { statements body }`, also `view () { ... }` */
export interface FunctionDeclaration {
  readonly kind: "function";
  readonly isView: boolean;
  readonly parameters: readonly FunctionParameter[];
  readonly statements: readonly Statement[];
  readonly body: Expression;
  readonly span: Span;
}

export interface FunctionParameter {
  readonly name: Identifier;
  /** The type's name as written (`string`, `long`, ...), or the columns of a tabular parameter. */
  readonly type: Identifier | readonly ColumnDeclaration[] | "anyTable";
  readonly defaultValue: Expression | null;
}

export interface ColumnDeclaration {
  readonly name: Identifier;
  readonly type: Identifier;
}

/** A name as it is meant: brackets and quotes of `['a b']` are gone. */
export interface Identifier {
  readonly name: string;
  readonly span: Span;
}

export type Expression =
  | NameExpression
  | LiteralExpression
  | DynamicExpression
  | StarExpression
  | UnaryExpression
  | BinaryExpression
  | ListExpression
  | BetweenExpression
  | CallExpression
  | MemberExpression
  | IndexExpression
  | PipelineExpression
  | DatatableExpression
  | ExternalDataExpression
  | TypeExpression
  | FieldSearchExpression;

export interface NameExpression {
  readonly kind: "name";
  readonly name: string;
  /** Written with `*` in it (`Foo*`, `*_id`): a pattern of names, where an operator takes one. */
  readonly isPattern: boolean;
  readonly span: Span;
}

export type LiteralType =
  | "bool"
  | "int"
  | "long"
  | "real"
  | "decimal"
  | "string"
  | "datetime"
  | "timespan"
  | "guid";

/**
 * `value` null: the null of that type (`int(null)`). bool: boolean; long and int: bigint; real: number; decimal and guid:
 * text; string: what the escapes mean; datetime: nanoseconds since 1970 as bigint; timespan: nanoseconds as bigint.
 * `now()` and other calls are calls, not literals. The number of a literal out of its type's range is a diagnostic.
 */
export interface LiteralExpression {
  readonly kind: "literal";
  readonly type: LiteralType;
  readonly value: boolean | bigint | number | string | null;
  readonly span: Span;
}

/** `dynamic(...)`: JSON text, normalised (single quotes, nested `datetime()` and `timespan()` became JSON); "null" for null. */
export interface DynamicExpression {
  readonly kind: "dynamic";
  readonly json: string;
  readonly span: Span;
}

/** A lone `*`: every column. */
export interface StarExpression {
  readonly kind: "star";
  readonly span: Span;
}

export interface UnaryExpression {
  readonly kind: "unary";
  readonly operator: "+" | "-";
  readonly operand: Expression;
  readonly span: Span;
}

export const STRING_OPERATORS = [
  "has",
  "!has",
  "has_cs",
  "!has_cs",
  "hasprefix",
  "!hasprefix",
  "hasprefix_cs",
  "!hasprefix_cs",
  "hassuffix",
  "!hassuffix",
  "hassuffix_cs",
  "!hassuffix_cs",
  "contains",
  "!contains",
  "contains_cs",
  "!contains_cs",
  "startswith",
  "!startswith",
  "startswith_cs",
  "!startswith_cs",
  "endswith",
  "!endswith",
  "endswith_cs",
  "!endswith_cs",
  "matches regex",
  "like",
  "notlike",
  "like_cs",
  "notlike_cs",
] as const;
export type StringOperator = (typeof STRING_OPERATORS)[number];

export type BinaryOperator =
  | "or"
  | "and"
  | "=="
  | "!="
  | "=~"
  | "!~"
  | "<"
  | "<="
  | ">"
  | ">="
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | StringOperator;

/** `<>` is read as `!=`; `a : b` is a FieldSearchExpression. */
export interface BinaryExpression {
  readonly kind: "binary";
  readonly operator: BinaryOperator;
  readonly operatorSpan: Span;
  readonly left: Expression;
  readonly right: Expression;
  readonly span: Span;
}

/** `left in (items)`; one item may be a tabular expression or a dynamic array, which the binder finds out. */
export interface ListExpression {
  readonly kind: "list";
  readonly operator: "in" | "!in" | "in~" | "!in~" | "has_any" | "has_all";
  readonly left: Expression;
  readonly items: readonly Expression[];
  readonly span: Span;
}

/** `left between (low .. high)`, both ends included. */
export interface BetweenExpression {
  readonly kind: "between";
  readonly isNegated: boolean;
  readonly left: Expression;
  readonly low: Expression;
  readonly high: Expression;
  readonly span: Span;
}

/** `name(arguments)`; `toscalar`, `materialize`, `datatable`-free calls, and calls of functions made by `let`. */
export interface CallExpression {
  readonly kind: "call";
  readonly name: Identifier;
  readonly arguments: readonly Argument[];
  readonly span: Span;
}

/** `value`, or `name = value`, or `(a, b) = value` where several columns come out. */
export interface Argument {
  readonly names: readonly Identifier[];
  readonly value: Expression;
  readonly span: Span;
}

/** `base.member` */
export interface MemberExpression {
  readonly kind: "member";
  readonly base: Expression;
  readonly member: Identifier;
  readonly span: Span;
}

/** `base[index]`; `['name']` alone is a NameExpression. */
export interface IndexExpression {
  readonly kind: "index";
  readonly base: Expression;
  readonly index: Expression;
  readonly span: Span;
}

/** `source | operator | ...`, also a source that is an operator (`print`, `range`, `union`, `search`, `find`). */
export interface PipelineExpression {
  readonly kind: "pipeline";
  /** Null when the first operator makes the rows itself. */
  readonly source: Expression | null;
  readonly operators: readonly Operator[];
  readonly span: Span;
}

/** `datatable (a: long, b: string) [ 1, "x", ... ]`, values row by row. */
export interface DatatableExpression {
  readonly kind: "datatable";
  readonly columns: readonly ColumnDeclaration[];
  readonly values: readonly Expression[];
  readonly span: Span;
}

/** `externaldata (a: long, b: string) ["https://..."] with (format = "csv")` */
export interface ExternalDataExpression {
  readonly kind: "externaldata";
  readonly columns: readonly ColumnDeclaration[];
  readonly urls: readonly Expression[];
  readonly properties: readonly { readonly name: Identifier; readonly value: Expression }[];
  readonly span: Span;
}

/** `typeof(long)`, where a parameter or operator takes a type. */
export interface TypeExpression {
  readonly kind: "type";
  readonly type: Identifier;
  readonly span: Span;
}

/**
 * `field:value` in a filter or `search`: the field has the term; `field:*` the field is there. `left` null: any field
 * (a string alone as a predicate of `search`). `pattern`: `value` had `*` at its ends or inside, as written.
 */
export interface FieldSearchExpression {
  readonly kind: "fieldSearch";
  readonly left: Expression | null;
  /** "*" for `field:*`. */
  readonly right: Expression | "*";
  readonly isCaseSensitive?: true;
  readonly span: Span;
}

/** A column as far as it is known; the type is null for what a function makes. */
export interface NamedColumn {
  readonly name: string;
  readonly type: string | null;
}

/** What there is to complete, besides the language itself. */
export interface CompletionVocabulary {
  /** The columns of the rows that a condition alone, or operators without a table, are about. */
  readonly columns?: readonly NamedColumn[];
  readonly tables?: readonly { readonly name: string; readonly columns: readonly NamedColumn[] }[];
  /** Scalar functions. */
  readonly functions: readonly string[];
  /** Functions of `summarize`. */
  readonly aggregates?: readonly string[];
  /** The names of the operators that are supported. */
  readonly operators: readonly string[];
}

export type CompletionKind =
  | "operator"
  | "table"
  | "column"
  | "function"
  | "aggregate"
  | "keyword"
  | "value"
  | "type";

export interface Completion {
  readonly kind: CompletionKind;
  /** What is shown, and compared with what is typed. */
  readonly label: string;
  /** What is put in place: a name in brackets and quotes where it needs them, a function with its bracket. */
  readonly insert: string;
  /** The type of a column. */
  readonly detail: string | null;
}

import type { Span } from "../span.ts";

/** What is wrong with a query text, for programs; each is described in the registry of `docs/kql.md`. */
export type DiagnosticCode =
  | "SYNTAX"
  | "UNKNOWN_NAME"
  | "UNKNOWN_FUNCTION"
  | "UNKNOWN_OPERATOR"
  | "UNKNOWN_TABLE"
  | "UNSUPPORTED"
  | "WRONG_TYPE"
  | "WRONG_ARGUMENTS"
  | "NOT_A_CONSTANT"
  | "NOT_TABULAR"
  | "DUPLICATE_NAME"
  | "TOO_COMPLEX"
  | "TEXT_TOO_LONG";

/** One problem of a query text and its place. */
export interface Problem {
  readonly code: DiagnosticCode;
  /** A sentence for whoever wrote the query; shows what was written and what is possible instead. */
  readonly message: string;
  readonly span: Span;
  /** What was probably meant; null when nothing is near. */
  readonly suggestion: string | null;
}

import type { Span } from "./span.ts";

/**
 * Why a query text was refused. The codes are for programs; the server maps them to its own registry.
 * `TEXT_TOO_LONG`: longer than the limit. `TOO_MANY_TERMS`: more terms than the limit.
 */
export type QueryErrorCode = "TEXT_TOO_LONG" | "TOO_MANY_TERMS";

/** A query text that cannot be compiled: a fault of whoever wrote the query, with the place where it lies. */
export class QueryError extends Error {
  readonly code: QueryErrorCode;
  readonly span: Span;

  constructor(code: QueryErrorCode, message: string, span: Span) {
    super(message);
    this.name = "QueryError";
    this.code = code;
    this.span = span;
  }
}

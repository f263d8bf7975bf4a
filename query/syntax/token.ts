import type { Span } from "../span.ts";

/**
 * name: an identifier or keyword, hyphenated ones in one piece; typed: a literal with its type in front, such as
 * `datetime(2020-01-01)`; unknown: a character that no token begins with; end: the end of the text.
 */
export type TokenKind =
  | "name"
  | "string"
  | "long"
  | "real"
  | "timespan"
  | "typed"
  | "symbol"
  | "unknown"
  | "end";

/** A piece of a query text. Comments and white space are no tokens. */
export interface Token {
  readonly kind: TokenKind;
  /** As written; of a typed literal the type alone. */
  readonly text: string;
  /** Of a string what its escapes mean, of a typed literal the text between the brackets; otherwise empty. */
  readonly value: string;
  readonly span: Span;
  /** What is wrong with the token itself, such as a quote that is not closed; null for a good one. */
  readonly problem: string | null;
}

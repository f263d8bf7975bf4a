/** A row of the logs, by the public names of its columns. */
export interface MatchRow {
  /** Of a column of type string. */
  text(column: string): string;
  /** Of a column of type long; of a datetime its nanoseconds since 1970. */
  integer(column: string): bigint;
  /** An attribute of the exact key: a string as it is, anything else its JSON text; null where there is none. */
  attribute(key: string): { readonly text: string; readonly isJson: boolean } | null;
}

/** Whether a row fulfils conditions; null when only the store can tell. */
export type RowMatcher = (row: MatchRow) => boolean | null;

/** A value as it is computed with: integers and times as bigint, null for the null of the type. */
export type Value = boolean | bigint | number | string | null;
export type Evaluate = (row: MatchRow) => Value;

/** Thrown for a value that the store may see otherwise. */
export class Undecided extends Error {}

const UNDECIDED = new Undecided();

export function undecided(): never {
  throw UNDECIDED;
}

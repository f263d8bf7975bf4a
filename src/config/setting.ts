import type { ValueReader } from "./values.ts";

/** One row of the table of settings. */
export interface Setting<T> {
  /** The environment variable. */
  readonly name: string;
  /** The text that is read when the variable is unset or empty; null when the setting may be absent. */
  readonly default: string | null;
  /** What the documentation says instead of a default. */
  readonly defaultNote?: string;
  readonly accepts: string;
  readonly meaning: string;
  /** The value may hold a password and is never repeated. */
  readonly secret?: boolean;
  readonly read: ValueReader<T>;
}

/** Keeps in the type whether there is a default, and so whether the value can be absent. */
export function setting<T, D extends string | null>(
  row: Setting<T> & { default: D },
): Setting<T> & { default: D } {
  return row;
}

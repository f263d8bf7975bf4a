import { SPECIAL_FUNCTIONS } from "./bind/calls.ts";
import { WINDOW_FUNCTIONS } from "./bind/windows.ts";
import { type Completions, complete } from "./completion/complete.ts";
import type { NamedColumn } from "./completion/vocabulary.ts";
import { aggregateFunctions, callableFunctions, functionsOfSeveralResults } from "./functions/registry.ts";
import { type KeptNames, NOTHING_KEPT } from "./kept.ts";
import { LIBRARY_FUNCTIONS } from "./library.ts";
import { OPERATORS } from "./operators.ts";
import { TABLES } from "./schema.ts";
import { OPERATOR_NAMES } from "./syntax/operators.ts";

/** What exists beyond the tables themselves: the attributes that entries have, and what the organisation keeps. */
export interface KnownFields {
  readonly attributes: readonly NamedColumn[];
  readonly kept?: KeptNames;
}

/**
 * What can be written at a position (UTF-16 units) of a query text, which need not be complete or right: operators,
 * functions and columns from the compiler's own tables, and the attributes and kept names that the caller knows of.
 */
export function completeKql(
  text: string,
  position: number,
  { attributes, kept = NOTHING_KEPT }: KnownFields,
): Completions {
  const columns = [...TABLES.logs.columns.map(({ name, type }) => ({ name, type })), ...attributes];
  return complete(text, position, {
    columns,
    tables: [
      { name: "logs", columns },
      { name: "checks", columns: TABLES.checks.columns.map(({ name, type }) => ({ name, type })) },
      ...[...kept.tables].map(([name, table]) => ({ name, columns: table.columns })),
    ],
    functions: [...FUNCTIONS, ...kept.functions.keys()].sort(),
    aggregates: AGGREGATES,
    operators: SUPPORTED_OPERATORS,
  });
}

const FUNCTIONS: readonly string[] = [
  ...new Set([
    ...callableFunctions().map(([name]) => name),
    ...functionsOfSeveralResults().map(({ name }) => name),
    ...Object.keys(SPECIAL_FUNCTIONS),
    ...Object.keys(LIBRARY_FUNCTIONS),
    ...WINDOW_FUNCTIONS,
  ]),
].sort();

const AGGREGATES: readonly string[] = aggregateFunctions()
  .map(([name]) => name)
  .sort();

const REJECTED: ReadonlySet<string> = new Set(
  OPERATORS.filter(({ support }) => support === "rejected").map(({ name }) => name),
);

const SUPPORTED_OPERATORS: readonly string[] = [...new Set([...OPERATOR_NAMES, "print", "range"])]
  .filter((name) => !REJECTED.has(name))
  .sort();

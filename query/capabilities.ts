import { isSpecialFunction, SPECIAL_FUNCTIONS } from "./bind/calls.ts";
import { signatureOf } from "./bind/conversion.ts";
import { WINDOW_FUNCTIONS } from "./bind/windows.ts";
import type { FunctionDefinition } from "./functions/definition.ts";
import { aggregateFunctions, callableFunctions, functionsOfSeveralResults } from "./functions/registry.ts";
import { REJECTED_FUNCTIONS } from "./functions/rejected-functions.ts";
import { LIBRARY_FUNCTIONS } from "./library.ts";
import { LIBRARY_MAX_TEXTS } from "./limits.ts";
import { OPERATORS, type OperatorCapability } from "./operators.ts";
import type { ScalarType } from "./scalar-type.ts";
import { EVERY_TABLE, TABLES } from "./schema.ts";

export interface FunctionCapability extends OperatorCapability {
  readonly kind: "scalar" | "aggregate" | "window" | "unsupported";
  /** `name(parameter: type, ...): type` */
  readonly signatures: readonly string[];
  readonly summary: string | null;
}

export interface TableCapability {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: ScalarType }[];
}

export interface KqlCapabilities {
  readonly tables: readonly TableCapability[];
  readonly operators: readonly OperatorCapability[];
  readonly functions: readonly FunctionCapability[];
}

/** What of the language is understood, from the tables that the compiler itself works with. */
export function kqlCapabilities(): KqlCapabilities {
  const scalar = callableFunctions()
    .filter(([name]) => !isSpecialFunction(name))
    .map(([name, definition]) => described(name, "scalar", definition));
  const several = functionsOfSeveralResults().map(({ name, summary, approximate, parameters, results }) => {
    const columns = Object.entries(results).map(([result, type]) => `${result}: ${type}`);
    return {
      name,
      kind: "scalar" as const,
      support: approximate === undefined ? ("exact" as const) : ("approximate" as const),
      note: approximate ?? null,
      signatures: [`${name}${signatureOf({ parameters })}: (${columns.join(", ")})`],
      summary,
    };
  });
  const aggregates = aggregateFunctions()
    .filter(([name]) => !INTERNAL_AGGREGATES.has(name))
    .map(([name, definition]) => described(name, "aggregate", definition));
  const special = Object.entries(SPECIAL_FUNCTIONS).map(([name, { kind, signature, summary }]) => ({
    name,
    kind,
    support: "exact" as const,
    note: null,
    signatures: [signature],
    summary,
  }));
  const library = Object.entries(LIBRARY_FUNCTIONS).map(([name, { signature, summary }]) => ({
    name,
    kind: "scalar" as const,
    support: "approximate" as const,
    note: `computed by a library, of ${LIBRARY_MAX_TEXTS} different texts at most`,
    signatures: [signature],
    summary,
  }));
  const windows = WINDOW_FUNCTIONS.map((name) => ({
    name,
    kind: "window" as const,
    support: "exact" as const,
    note: null,
    signatures: [],
    summary: "Looks at the rows around, which must have an order.",
  }));
  const supported = [...scalar, ...several, ...aggregates, ...special, ...library, ...windows];
  const names = new Set(supported.map(({ name }) => name));
  const rejected = [...REJECTED_FUNCTIONS]
    .filter(([name]) => !names.has(name))
    .map(([name, note]) => ({
      name,
      kind: "unsupported" as const,
      support: "rejected" as const,
      note,
      signatures: [],
      summary: null,
    }));
  const tables = [...EVERY_TABLE].map(([name, table]) => ({
    name,
    columns: TABLES[table].columns.map((column) => ({ name: column.name, type: column.type })),
  }));
  return { tables, operators: OPERATORS, functions: [...supported, ...rejected].sort(byName) };
}

/** Parts of which the binder makes others. */
const INTERNAL_AGGREGATES: ReadonlySet<string> = new Set(["argMax", "argMin", "seriesValues"]);

function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}

function described(
  name: string,
  kind: "scalar" | "aggregate",
  definition: FunctionDefinition,
): FunctionCapability {
  const { summary, approximate, overloads } = definition;
  const signatures = overloads.map((overload) => {
    const result = typeof overload.result === "string" ? `: ${overload.result}` : "";
    return `${name}${signatureOf(overload)}${result}`;
  });
  return {
    name,
    kind,
    support: approximate === undefined ? "exact" : "approximate",
    note: approximate ?? null,
    signatures: [...new Set(signatures)],
    summary,
  };
}

import type { AggregateDefinition, FunctionDefinition } from "./definition.ts";
import {
  AGGREGATE_TABLES,
  FUNCTION_TABLES,
  FUNCTIONS_OF_SEVERAL_RESULTS,
  OPERATOR_TABLES,
} from "./families.ts";
import type { SeveralResults } from "./several-results.ts";

const SCALAR: ReadonlyMap<string, FunctionDefinition> = new Map(
  [...OPERATOR_TABLES, ...FUNCTION_TABLES].flatMap((table) => Object.entries(table)),
);

const CALLABLE: ReadonlySet<string> = new Set(FUNCTION_TABLES.flatMap((table) => Object.keys(table)));

const AGGREGATES: ReadonlyMap<string, AggregateDefinition> = new Map(
  AGGREGATE_TABLES.flatMap((table) => Object.entries(table)),
);

const SEVERAL_RESULTS: ReadonlyMap<string, SeveralResults> = new Map(
  FUNCTIONS_OF_SEVERAL_RESULTS.map((several) => [several.name, several]),
);

/** A function that makes several columns; undefined when there is none of that name. */
export function functionOfSeveralResults(name: string): SeveralResults | undefined {
  return SEVERAL_RESULTS.get(name);
}

export function functionsOfSeveralResults(): readonly SeveralResults[] {
  return FUNCTIONS_OF_SEVERAL_RESULTS;
}

/** A scalar function or operator of a plan; undefined when there is none of that name. */
export function scalarFunction(name: string): FunctionDefinition | undefined {
  return SCALAR.get(name);
}

/** True for the functions that a query can call by name. */
export function isCallable(name: string): boolean {
  return CALLABLE.has(name);
}

export function aggregateFunction(name: string): AggregateDefinition | undefined {
  return AGGREGATES.get(name);
}

export function callableFunctions(): readonly (readonly [string, FunctionDefinition])[] {
  return [...SCALAR].filter(([name]) => CALLABLE.has(name));
}

export function aggregateFunctions(): readonly (readonly [string, AggregateDefinition])[] {
  return [...AGGREGATES];
}

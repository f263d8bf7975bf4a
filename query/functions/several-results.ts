import type { ScalarType } from "../scalar-type.ts";
import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  type Parameter,
  type SqlTemplate,
  simple,
} from "./definition.ts";
import { bagOf, eitherOf, elementOfReal } from "./series-values.ts";

/** A function with several results, each of which becomes a column. */
export interface SeveralResults<Name extends string = string> {
  readonly name: string;
  readonly summary: string;
  readonly approximate?: string;
  readonly parameters: readonly Parameter[];
  readonly results: Readonly<Record<Name, "real" | "long" | "dynamic">>;
  /** The SQL of each result in the form of its type. What they have in common must be shared. */
  readonly sql: (call: CallWriter) => Readonly<Record<Name, string>>;
}

/** The name of the function that makes one of the results; a query cannot write it. */
export function resultName(name: string, result: string): string {
  return `${name}.${result}`;
}

/** A function for each result. */
export function resultFunctions<Name extends string>(several: SeveralResults<Name>): FunctionTable {
  const { name, summary, parameters } = several;
  return Object.fromEntries(
    namesOf(several).map((result): [string, FunctionDefinition] => [
      resultName(name, result),
      simple(summary, parameters, several.results[result], "possible", (call) => several.sql(call)[result]),
    ]),
  );
}

/** The function that makes one bag of the results, null where the first of them is. */
export function bagFunction<Name extends string>(several: SeveralResults<Name>): FunctionDefinition {
  const [first] = namesOf(several);
  const bag: SqlTemplate = (call) => {
    const sql = several.sql(call);
    const members = namesOf(several).map((name): [string, string] => [
      name,
      elementOf(call, sql[name], several.results[name]),
    ]);
    return first === undefined ? "''" : eitherOf(`isNull(${sql[first]})`, "''", bagOf(members));
  };
  const { summary, approximate, parameters } = several;
  return {
    ...simple(`${summary.slice(0, -1)}, as a bag.`, parameters, "dynamic", "never", bag),
    ...(approximate === undefined ? {} : { approximate }),
  };
}

function namesOf<Name extends string>({ results }: SeveralResults<Name>): Name[] {
  return Object.keys(results).filter((name): name is Name => name in results);
}

function elementOf(call: CallWriter, sql: string, type: ScalarType): string {
  if (type === "dynamic") return sql;
  return type === "long" ? `ifNull(toString(${sql}), 'null')` : elementOfReal(call.step(sql));
}

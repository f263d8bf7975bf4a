import { isReservedName } from "./bind/calls.ts";
import { convert } from "./bind/conversion.ts";
import { DiscoveryNeeded } from "./bind/discovery.ts";
import { Environment, type NamedValue } from "./bind/environment.ts";
import { ExpressionContext } from "./bind/expression-context.ts";
import { ExternalNeeded } from "./bind/external-table.ts";
import { type KeptPart, type PartProblem, placeInPart, readKeptFunction } from "./bind/kept-declaration.ts";
import { newCompilation } from "./bind/query.ts";
import { Refusal } from "./bind/refusal.ts";
import { bindStatements } from "./bind/statements.ts";
import { typeNamed } from "./bind/types.ts";
import { type Expression, literal } from "./expression.ts";
import type { KeptFunction, KeptNames } from "./kept.ts";
import { type Diagnostic, diagnosticsOf } from "./kql.ts";
import { UNCOMPUTED_LIBRARY } from "./library.ts";
import { scan, unitRow, values } from "./plan/build.ts";
import { hasSqlNull, type ScalarType } from "./scalar-type.ts";
import { EVERY_TABLE } from "./schema.ts";
import type * as syntax from "./syntax/tree.ts";

export interface KeptDiagnostic extends Diagnostic {
  /** The text in which the place is. */
  readonly part: KeptPart;
}

/** Whether a name has a meaning of its own in the language or the store, which nothing that is kept may take away. */
export function isTakenName(name: string): boolean {
  return isReservedName(name) || EVERY_TABLE.has(name);
}

/**
 * What is wrong with a function that is to be kept, beside the others; empty when every call of it with arguments of its
 * types means something. Where a parameter has no default, it is tried with a value of its type.
 */
export function checkKeptFunction(kept: KeptFunction, others: KeptNames, nowNs: bigint): KeptDiagnostic[] {
  const { declaration, problems } = readKeptFunction(kept);
  const found = problems ?? problemsOf(kept, declaration, others, nowNs);
  return found.map(({ part, ...problem }) => {
    const [diagnostic] = diagnosticsOf(kept[part], [problem]);
    if (diagnostic === undefined) throw new TypeError("a problem without a diagnostic");
    return { ...diagnostic, part };
  });
}

function problemsOf(
  kept: KeptFunction,
  { parameters, statements, body }: syntax.FunctionDeclaration,
  others: KeptNames,
  nowNs: bigint,
): PartProblem[] {
  const names: KeptNames = { ...others, functions: new Map([...others.functions, [kept.name, kept]]) };
  const environment = new Environment(
    newCompilation({
      ...{ nowNs, tables: EVERY_TABLE, discovered: [], kept: names, externals: new Map() },
      library: UNCOMPUTED_LIBRARY,
    }),
  );
  const inner = new Environment(environment.compilation, environment, 1);
  environment.compilation.calling.push(kept.name);
  return (
    problemIn("parameters", kept.parameters, () => {
      for (const parameter of parameters)
        inner.define(parameter.name.name, sampleOf(parameter, environment, nowNs));
    }) ??
    problemIn("body", kept.body, () => {
      const place = new ExpressionContext(inner, unitRow());
      bindStatements(statements, place);
      if (inner.isTabular(body)) inner.table(body);
      else place.scalar(body);
    }) ??
    []
  );
}

/** Null where nothing is wrong, as far as that can be said without the data. */
function problemIn(part: KeptPart, text: string, bind: () => void): PartProblem[] | null {
  try {
    bind();
    return null;
  } catch (error) {
    if (error instanceof DiscoveryNeeded || error instanceof ExternalNeeded) return null;
    if (!(error instanceof Refusal)) throw error;
    return [placeInPart(error.problem, part, text)];
  }
}

/** The default of a parameter, else a value of its type; a table of any columns is tried with the logs. */
function sampleOf(
  { type, defaultValue }: syntax.FunctionParameter,
  environment: Environment,
  nowNs: bigint,
): NamedValue {
  if (type === "anyTable") return { kind: "table", relation: scan("logs") };
  if (!("name" in type)) {
    const columns = type.map((column) => ({ name: column.name.name, type: typeNamed(column.type) }));
    const nullable = columns.map((column) => ({ ...column, isNullable: hasSqlNull(column.type) }));
    return { kind: "table", relation: values(nullable, []) };
  }
  const to = typeNamed(type);
  if (defaultValue === null) return { kind: "scalar", value: sampleValue(to, nowNs), rowsOf: null };
  const value = new ExpressionContext(environment, unitRow()).scalar(defaultValue);
  return { kind: "scalar", value: to === "dynamic" ? value : convert(value, to), rowsOf: null };
}

function sampleValue(type: ScalarType, nowNs: bigint): Expression {
  switch (type) {
    case "bool":
      return literal("bool", true);
    case "int":
      return literal("int", 1);
    case "long":
      return literal("long", 1n);
    case "real":
    case "decimal":
      return literal(type, 1);
    case "string":
      return literal("string", "a");
    case "datetime":
      return literal("datetime", nowNs);
    case "timespan":
      return literal("timespan", 3_600_000_000_000n);
    case "guid":
      return literal("guid", "00000000-0000-0000-0000-000000000001");
    case "dynamic":
      return literal("dynamic", "[]");
  }
}

import { type Expression, literal } from "../expression.ts";
import { keptScan, scan, unitRow, values } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import { hasSqlNull } from "../scalar-type.ts";
import type * as syntax from "../syntax/tree.ts";
import { refuseTwice } from "./column-names.ts";
import { convert, isConvertible } from "./conversion.ts";
import type { Environment, FunctionValue } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { bindExternalData } from "./external-table.ts";
import { bindFunctionCall } from "./functions.ts";
import { nearestName } from "./nearest-name.ts";
import { bindOperator, bindSourceOperator } from "./pipeline.ts";
import { refuse } from "./refusal.ts";
import { typeNamed } from "./types.ts";

/** True for what makes a table rather than a value: by its form, or by what its name stands for. */
export function isTabular(expression: syntax.Expression, environment: Environment): boolean {
  switch (expression.kind) {
    case "pipeline":
    case "datatable":
    case "externaldata":
      return true;
    case "name": {
      const named = environment.lookup(expression.name);
      if (named === undefined) return environment.isTable(expression.name);
      if (named.kind !== "function") return named.kind === "table";
      return named.declaration.parameters.length === 0 && isTabularFunction(expression.name, named);
    }
    case "call":
      return isTabularCall(expression, environment);
    default:
      return false;
  }
}

function isTabularCall({ name }: syntax.CallExpression, environment: Environment): boolean {
  const named = environment.lookup(name.name);
  if (named?.kind === "function") return isTabularFunction(name.name, named);
  return TABULAR_FUNCTIONS.has(name.name) && named === undefined;
}

const TABULAR_FUNCTIONS: ReadonlySet<string> = new Set([
  "materialize",
  "table",
  "view",
  "cluster",
  "database",
]);

/** Kept functions may call one another in a circle, which is refused where one is called. */
function isTabularFunction(
  name: string,
  { declaration, environment, isKept = false }: FunctionValue,
): boolean {
  const { calling } = environment.compilation;
  if (!isKept) return isTabularBody(declaration, environment);
  if (calling.includes(name)) return false;
  calling.push(name);
  try {
    return isTabularBody(declaration, environment);
  } finally {
    calling.pop();
  }
}

/** What the body makes, with its own parameters and names taken into account. */
function isTabularBody(
  { parameters, statements, body }: syntax.FunctionDeclaration,
  environment: Environment,
): boolean {
  if (body.kind !== "name") return isTabular(body, environment);
  const parameter = parameters.find(({ name }) => name.name === body.name);
  if (parameter !== undefined) return parameter.type === "anyTable" || !("name" in parameter.type);
  const own = statements.find((statement) => statement.kind === "let" && statement.name.name === body.name);
  if (own?.kind === "let") return own.value.kind !== "function" && isTabular(own.value, environment);
  return isTabular(body, environment);
}

/** A tabular expression with its names looked up. Throws a refusal for one that means nothing. */
export function bindTable(expression: syntax.Expression, environment: Environment): Relation {
  environment.step(expression.span);
  switch (expression.kind) {
    case "name":
      return bindTableName(expression, environment);
    case "call":
      return bindTableCall(expression, environment);
    case "datatable":
      return bindDatatable(expression, environment);
    case "externaldata":
      return bindExternalData(expression, environment);
    case "pipeline":
      return bindPipeline(expression, environment);
    case "member":
      return refuse(
        "UNSUPPORTED",
        "Tables of other databases are out of reach; every table is named alone.",
        expression.span,
      );
    default:
      return refuse(
        "NOT_TABULAR",
        "A table belongs here. A condition before other operators is written: where condition | ...",
        expression.span,
      );
  }
}

function bindPipeline(
  { source, operators, span }: syntax.PipelineExpression,
  environment: Environment,
): Relation {
  const [first, ...rest] = operators;
  // `as` names what stands before it for the rest of the statement.
  if (source !== null)
    return operators.reduce(
      (input, operator) => bindOperator(input, operator, environment),
      bindTable(source, environment),
    );
  if (first === undefined) return refuse("NOT_TABULAR", "A table belongs here.", span);
  const made = bindSourceOperator(first, environment);
  return rest.reduce((input, operator) => bindOperator(input, operator, environment), made);
}

function bindTableName({ name, span }: syntax.NameExpression, environment: Environment): Relation {
  const named = environment.lookup(name);
  if (named?.kind === "table") {
    environment.mention(named.relation, span);
    return named.relation;
  }
  if (named?.kind === "function" && named.declaration.parameters.length === 0)
    return bindTableCall({ kind: "call", name: { name, span }, arguments: [], span }, environment);
  if (named !== undefined)
    return refuse("NOT_TABULAR", `${name} is a ${named.kind}; a table belongs here.`, span);
  return scanTable(name, span, environment);
}

function scanTable(name: string, span: syntax.Expression["span"], environment: Environment): Relation {
  const { tables, kept } = environment.compilation;
  const table = tables.get(name);
  const keptTable = kept.tables.get(name);
  const relation = table !== undefined ? scan(table) : keptTable !== undefined ? keptScan(keptTable) : null;
  if (relation !== null) {
    environment.mention(relation, span);
    return relation;
  }
  const names = environment.tableNames();
  const suggestion = nearestName(name, [...names, ...environment.names()]) ?? "logs";
  return refuse(
    "UNKNOWN_TABLE",
    `There is no table ${name}. Tables here: ${names.join(", ")}.`,
    span,
    suggestion,
  );
}

function bindTableCall(expression: syntax.CallExpression, environment: Environment): Relation {
  const { name, arguments: args, span } = expression;
  const named = environment.lookup(name.name);
  if (named?.kind === "function") {
    const result = bindFunctionCall(named, expression, new ExpressionContext(environment, unitRow()));
    if (result.kind === "table") return result.relation;
    return refuse("NOT_TABULAR", `${name.name}() makes a value; a table belongs here.`, span);
  }
  const [argument] = args;
  if (name.name === "materialize" || name.name === "view") {
    if (argument === undefined) return refuse("WRONG_ARGUMENTS", `${name.name}() takes a table.`, span);
    return bindTable(argument.value, environment);
  }
  if (name.name === "table" && argument?.value.kind === "literal" && typeof argument.value.value === "string")
    return scanTable(argument.value.value, argument.span, environment);
  return refuse("UNSUPPORTED", `${name.name}() is not supported as a table.`, span);
}

function bindDatatable(
  { columns, values: cells, span }: syntax.DatatableExpression,
  environment: Environment,
): Relation {
  const types = columns.map(({ name, type }) => ({ name: name.name, type: typeNamed(type) }));
  refuseTwice(columns.map(({ name }) => name));
  if (types.length === 0 || cells.length % types.length !== 0)
    return refuse("SYNTAX", `The values do not fill rows of ${types.length} columns.`, span);
  const context = new ExpressionContext(environment, values([], [[]]));
  const typed = cells.map((cell, i): Expression => {
    const type = types[i % types.length]?.type ?? "dynamic";
    const bound = context.scalar(cell);
    if (bound.type === type) return bound;
    if (bound.kind === "literal" && bound.value === null && type === "string") return literal("string", "");
    if (!isConvertible(bound.type, type))
      return refuse("WRONG_TYPE", `A ${bound.type} stands in a column of type ${type}.`, cell.span);
    return convert(bound, type);
  });
  const rows = Array.from({ length: typed.length / types.length }, (_, row) =>
    typed.slice(row * types.length, (row + 1) * types.length),
  );
  const declared = types.map((column, i) => ({
    ...column,
    isNullable: hasSqlNull(column.type) && rows.some((row) => row[i]?.isNullable === true),
  }));
  return values(declared, rows);
}

import { type Expression, literal } from "../expression.ts";
import type { ScalarType } from "../scalar-type.ts";
import type * as syntax from "../syntax/tree.ts";
import { callNamed } from "./conversion.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { foldCall } from "./fold.ts";
import { refuse } from "./refusal.ts";

/** The names of the columns of a table, which is not read. */
export function bindColumnNames(
  { name, arguments: args, span }: syntax.CallExpression,
  { environment }: ExpressionContext,
): Expression {
  const [table, ...others] = args;
  if (table === undefined || others.length > 0 || !environment.isTabular(table.value))
    return refuse("WRONG_ARGUMENTS", `${name.name}() takes a table.`, span);
  const { columns } = environment.naming(() => environment.table(table.value));
  return literal("dynamic", JSON.stringify(columns.map((column) => column.name)));
}

/** Bytes of a value by its type; a text, and what is kept as one, has as many as it has. */
const SIZES: Readonly<Partial<Record<ScalarType, bigint>>> = {
  bool: 1n,
  int: 4n,
  long: 8n,
  real: 8n,
  datetime: 8n,
  timespan: 8n,
  decimal: 16n,
  guid: 16n,
};

/** How much room the columns of a row take. */
export function bindDataSize(
  { name, arguments: args, span }: syntax.CallExpression,
  context: ExpressionContext,
): Expression {
  const visible = context.relation.columns.filter((column) => !context.hiddenNames.has(column.name));
  const values = args.flatMap(({ value }) =>
    value.kind === "star"
      ? visible.map((column) => context.resolveColumn(column.name, span))
      : [context.scalar(value)],
  );
  if (values.length === 0) return refuse("WRONG_ARGUMENTS", `${name.name}() takes columns, or *.`, span);
  const sizes = values.map((value): Expression => {
    const size = SIZES[value.type];
    return size === undefined ? callNamed("string_size", [value], span) : literal("long", size);
  });
  return sizes.reduce((sum, size) => foldCall(callNamed("add", [sum, size], span)));
}

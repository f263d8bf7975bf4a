import type { Expression } from "../expression.ts";
import type { AggregateFunctionName } from "../functions.ts";
import type { ExpressionWriter } from "./expression-writer.ts";

type WriteCall = (writer: ExpressionWriter, operands: readonly Expression[]) => void;

/** The SQL of every aggregate function: a function without an entry does not compile. */
export const AGGREGATE_FUNCTION_SQL: { readonly [Name in AggregateFunctionName]: WriteCall } = {
  count: named("count"),
  max: named("maxOrNull"),
};

function named(sqlName: string): WriteCall {
  return (writer, operands) => {
    writer.out.text(`${sqlName}(`);
    writer.out.list(operands, ", ", (operand) => writer.write(operand));
    writer.out.text(")");
  };
}

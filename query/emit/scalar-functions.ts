import type { Expression } from "../expression.ts";
import type { ScalarFunctionName } from "../functions.ts";
import type { ExpressionWriter } from "./expression-writer.ts";
import { writeContains } from "./substring.ts";

type WriteCall = (writer: ExpressionWriter, operands: readonly Expression[]) => void;

/** The SQL of every scalar function: a function without an entry does not compile. */
export const SCALAR_FUNCTION_SQL: { readonly [Name in ScalarFunctionName]: WriteCall } = {
  and: connective(" AND "),
  or: connective(" OR "),
  not: unary((writer, operand) => {
    writer.out.text("not(");
    writer.write(operand);
    writer.out.text(")");
  }),
  equal: equality(" = "),
  notEqual: equality(" != "),
  less: order(" < "),
  lessOrEqual: order(" <= "),
  greater: order(" > "),
  greaterOrEqual: order(" >= "),
  contains: binary(writeContains),
  toString: unary((writer, operand) => writer.writeText(operand)),
};

// Infix operators stand in brackets of their own, so that no precedence needs to be known.

function connective(operator: string): WriteCall {
  return (writer, operands) => {
    writer.out.text("(");
    writer.out.list(operands, operator, (operand) => writer.write(operand));
    writer.out.text(")");
  };
}

function order(operator: string): WriteCall {
  return binary((writer, left, right) => {
    writer.out.text("(");
    writer.write(left);
    writer.out.text(operator);
    writer.write(right);
    writer.out.text(")");
  });
}

function equality(operator: string): WriteCall {
  return binary((writer, left, right) => {
    writer.out.text("(");
    if (right.kind === "literal") writer.writeStored(left);
    else writer.write(left);
    writer.out.text(operator);
    if (left.kind === "literal") writer.writeStored(right);
    else writer.write(right);
    writer.out.text(")");
  });
}

function unary(write: (writer: ExpressionWriter, operand: Expression) => void): WriteCall {
  return (writer, [operand]) => {
    if (operand === undefined) throw new TypeError("an operand is missing");
    write(writer, operand);
  };
}

function binary(write: (writer: ExpressionWriter, left: Expression, right: Expression) => void): WriteCall {
  return (writer, [left, right]) => {
    if (left === undefined || right === undefined) throw new TypeError("an operand is missing");
    write(writer, left, right);
  };
}

import { call } from "../call.ts";
import type { Expression } from "../expression.ts";
import { columnOf } from "../plan/build.ts";
import type { WindowCall } from "../plan/relation.ts";
import { callNamed, nullLiteral } from "./conversion.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { ROW_COLUMN } from "./mv-apply-operators.ts";

type NamelessCall = Omit<WindowCall, "name">;

/** Adds a window function. In a subquery of mv-apply it sees the elements of one row and no others. */
export function addWindow(context: ExpressionContext, windowCall: NamelessCall): Expression {
  if (!context.relation.columns.some(({ name }) => name === ROW_COLUMN)) return context.addWindow(windowCall);
  if (windowCall.function === "shift") return shiftWithinRow(context, windowCall);
  const before = rowAt(context, 1);
  const isOther = call("notEqual", before, columnOf(context.relation, ROW_COLUMN));
  const { restart } = windowCall;
  return context.addWindow({
    ...windowCall,
    restart: restart === null ? isOther : call("or", restart, isOther),
  });
}

/** The fallback also where the row so far away belongs to another subquery. */
function shiftWithinRow(context: ExpressionContext, windowCall: NamelessCall): Expression {
  const { type, operands, offset } = windowCall;
  const there = rowAt(context, offset);
  const value = context.addWindow(windowCall);
  const isSame = call("equal", there, columnOf(context.relation, ROW_COLUMN));
  return callNamed("iff", [isSame, value, operands[1] ?? nullLiteral(type)], { start: 0, end: 0 });
}

function rowAt(context: ExpressionContext, offset: number): Expression {
  const row = columnOf(context.relation, ROW_COLUMN);
  return context.addWindow({ function: "shift", operands: [row], offset, restart: null, type: "long" });
}

import { call } from "../call.ts";
import { literal } from "../expression.ts";
import { aggregate, aggregateCall, columnOf, extend } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type * as syntax from "../syntax/tree.ts";
import { keyOf } from "./assign.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { textOf } from "./operators.ts";
import { refuse } from "./refusal.ts";

/** Texts of one form together: what has digits in it counts as a variable, `*`. */
export function bindReduce(
  input: Relation,
  operator: syntax.ReduceOperator,
  environment: Environment,
): Relation {
  const context = new ExpressionContext(environment, input);
  const subject = keyOf(context.scalar(operator.by), operator.by.span);
  const text = textOf(subject, "reduce", operator.by.span);
  const form = call("textForm", text, literal("string", separatorsOf(operator, context)));
  const rows = extend(input, [
    { name: "$form", expression: form },
    { name: "$text", expression: text },
  ]);
  return aggregate(
    rows,
    [{ name: "Pattern", expression: columnOf(rows, "$form") }],
    [aggregateCall("Count", "count"), aggregateCall("Representative", "take_any", columnOf(rows, "$text"))],
  );
}

/** The characters between words, besides white space. `threshold` only tunes Kusto's own way of finding forms. */
function separatorsOf({ options }: syntax.ReduceOperator, context: ExpressionContext): string {
  let separators = "";
  for (const { name, value } of options) {
    const bound = context.constant(value);
    if (name.name === "characters" && bound.type === "string") separators = bound.value ?? "";
    else if (name.name !== "threshold")
      refuse("UNSUPPORTED", `reduce does not take ${name.name}.`, name.span);
  }
  return separators;
}

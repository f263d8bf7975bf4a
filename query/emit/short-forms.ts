import type { Expression } from "../expression.ts";
import { trialWriter } from "../functions/trial.ts";
import { type Bindings, bindingOf } from "./binding.ts";

// Which expressions have a form in SQL that takes less work than that of their type.

/** True for a dynamic value that is an array of strings, whatever the row. */
export function holdsStrings(expression: Expression, bindings: Bindings): boolean {
  if (expression.kind === "column") return bindingOf(bindings, expression.name).storage.kind === "strings";
  if (expression.kind !== "call") return false;
  return expression.overload.strings?.(trialWriter(expression)) !== undefined;
}

/** True for a value that has something shorter to group by. */
export function hasGrouping(expression: Expression): boolean {
  return expression.kind === "call" && expression.overload.grouping?.(trialWriter(expression)) !== undefined;
}

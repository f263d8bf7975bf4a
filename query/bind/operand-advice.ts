import type { Expression } from "../expression.ts";
import { isNumeric } from "../scalar-type.ts";
import type { Span } from "../span.ts";
import { refuse } from "./refusal.ts";

/** Refuses what people write from habit with the words for it. */
export function checkOperands(operator: string, operands: readonly Expression[], span: Span): void {
  const types = operands.map(({ type }) => type);
  const [left, right] = types;
  const isTimed = types.includes("datetime") || types.includes("timespan");
  if (types.includes("string")) {
    if (isTimed)
      refuse(
        "WRONG_TYPE",
        `${operator} does not take a string here: a length of time stands without quotes, as in now() - 1h.`,
        span,
        null,
      );
    if (operator === "+")
      refuse("WRONG_TYPE", "+ adds numbers and times; strcat(a, b) joins texts.", span, "strcat");
    refuse(
      "WRONG_TYPE",
      `${operator} takes numbers, not a string: toint(), tolong() or todouble() makes a number of a text.`,
      span,
    );
  }
  const isNumberBeside = types.some((type) => isNumeric(type)) && types.includes("datetime");
  if (isNumberBeside)
    refuse(
      "WRONG_TYPE",
      `${operator} does not take a ${left} and a ${right}: a length of time has a unit, as in 5m, 1h or 2d.`,
      span,
    );
  if (left === "datetime" && right === "datetime" && operator !== "-")
    refuse("WRONG_TYPE", `${operator} does not take two times; - gives the time between them.`, span);
  if (types.includes("bool"))
    refuse(
      "WRONG_TYPE",
      `${operator} does not take a bool; iff(condition, 1, 0) makes a number of one.`,
      span,
    );
}

import type { Expression } from "../expression.ts";
import { mayBeDatetime } from "../functions/parsed-text.ts";
import { isNumeric } from "../scalar-type.ts";
import type { Span } from "../span.ts";
import { readDatetime } from "../syntax/datetime-text.ts";
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

/** Characters of a text that a message repeats. */
const SHOWN_MAX_CHARS = 40;

/** Refuses a constant text that is no time in a comparison with one, which no row would satisfy. */
export function checkTimeText(value: Expression, span: Span): void {
  if (value.kind !== "literal" || value.type !== "string" || value.value === null) return;
  const text = value.value.trim();
  if (mayBeDatetime(text)) return;
  const example = readDatetime(text) === undefined ? "datetime(2026-01-31)" : `datetime(${text})`;
  const shown = JSON.stringify(text.slice(0, SHOWN_MAX_CHARS));
  refuse("WRONG_TYPE", `${shown} is no time: write one as ${example} or ago(1h).`, span);
}

import { anyOf, call } from "../call.ts";
import { type Call, type Expression, isLoose, literal } from "../expression.ts";
import type * as syntax from "../syntax/tree.ts";
import { checkArguments } from "./conversion.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { bindComparison, textOf } from "./operators.ts";
import { searchableColumns } from "./searchable-columns.ts";

/**
 * `field:value`, and a text alone: the field, or some field, has the term; with `*` at an end it may be a part of one.
 * `field:*`: the field is there.
 */
export function bindFieldSearch(
  expression: syntax.FieldSearchExpression,
  context: ExpressionContext,
): Expression {
  const { left, right, span, isCaseSensitive = false } = expression;
  const subjects = left === null ? searchableColumns(context.relation, span) : [context.scalar(left)];
  if (right === "*") return anyOf(subjects.map((subject) => isThere(subject)));
  const value = context.scalar(right);
  const conditions = subjects.map((subject) => {
    if (value.type !== "string" && value.type !== "dynamic" && left !== null && !isLoose(subject))
      return bindComparison("==", subject, value, span);
    const text = textOf(
      subject.type === "string" || subject.type === "dynamic" ? subject : call("tostring", subject),
      ":",
      span,
    );
    const found = matches(text, value.type === "string" ? value : call("tostring", value), isCaseSensitive);
    checkArguments(found, span);
    return found;
  });
  return anyOf(conditions);
}

function isThere(subject: Expression): Expression {
  return call("isnotempty", subject);
}

function matches(text: Expression, value: Expression, isCaseSensitive: boolean): Call {
  const suffix = isCaseSensitive ? "Cs" : "";
  if (value.kind !== "literal" || value.type !== "string" || value.value === null)
    return call(`has${suffix}`, text, value);
  const pattern = value.value;
  if (!pattern.includes("*")) return call(`has${suffix}`, text, value);
  const parts = pattern.split("*");
  const inner = parts.filter((part) => part !== "");
  if (inner.length === 0) return call("isnotempty", text);
  const [term = ""] = inner;
  if (inner.length === 1) {
    const needle = literal("string", term);
    const [startsOpen, endsOpen] = [pattern.startsWith("*"), pattern.endsWith("*")];
    if (startsOpen && endsOpen) return call(`contains${suffix}`, text, needle);
    return startsOpen ? call(`hassuffix${suffix}`, text, needle) : call(`hasprefix${suffix}`, text, needle);
  }
  const flags = isCaseSensitive ? "(?s)" : "(?is)";
  const regex = `${flags}${inner.map((part) => part.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&")).join(".*?")}`;
  return call("matchesRegex", text, literal("string", regex));
}

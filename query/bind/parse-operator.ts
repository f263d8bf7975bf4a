import { allOf, call } from "../call.ts";
import { literal } from "../expression.ts";
import { readRegex } from "../functions/regex-syntax.ts";
import { RegexSyntaxError } from "../functions/regex-tokens.ts";
import { extend, filter } from "../plan/build.ts";
import type { NamedExpression, Relation } from "../plan/relation.ts";
import type { ScalarType } from "../scalar-type.ts";
import type { Span } from "../span.ts";
import type * as syntax from "../syntax/tree.ts";
import { refuseTwice } from "./column-names.ts";
import { convert, nullLiteral } from "./conversion.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { textOf } from "./operators.ts";
import { refuse } from "./refusal.ts";
import { typeNamed } from "./types.ts";

type Mode = "simple" | "regex" | "relaxed";

/** What a typed column matches when the types decide: anything else makes the whole pattern fail. */
const TYPE_PATTERNS: Readonly<Partial<Record<ScalarType, string>>> = {
  int: "\\s*([-+]?[0-9]+)",
  long: "\\s*([-+]?[0-9]+)",
  real: "\\s*([-+]?[0-9]*\\.?[0-9]+(?:[eE][-+]?[0-9]+)?)",
  decimal: "\\s*([-+]?[0-9]*\\.?[0-9]+(?:[eE][-+]?[0-9]+)?)",
};

interface Column {
  readonly name: string;
  readonly type: ScalarType;
}

/** Columns out of a text, by what stands between them. `parse-where` keeps the rows that fit. */
export function bindParse(
  input: Relation,
  operator: syntax.ParseOperator,
  environment: Environment,
): Relation {
  const context = new ExpressionContext(environment, input);
  const subject = textOf(context.scalar(operator.subject), operator.kind, operator.subject.span);
  const mode = modeOf(operator);
  refuseTwice(operator.pattern.flatMap((part) => (part.kind === "column" ? [part.name] : [])));
  const columns: Column[] = [];
  const pattern = literal("string", patternOf(operator, mode, columns, context));
  const typed = columns.map(({ name, type }, i) => {
    const text = call("patternGroup", subject, pattern, literal("long", BigInt(i + 1)));
    return { name, type, value: convert(text, type) };
  });
  const strict = mode === "simple" ? typed.filter(({ type }) => !IS_TEXT.has(type)) : [];
  const fits = allOf([
    call("patternMatches", subject, pattern),
    ...strict.map(({ value }) => call("isnotnull", value)),
  ]);
  const kept = operator.kind === "parse-where" ? filter(input, fits) : input;
  const mayFail = operator.kind === "parse" && strict.some(({ type }) => TYPE_PATTERNS[type] === undefined);
  const assignments = typed.map(({ name, type, value }): NamedExpression => {
    return { name, expression: mayFail ? call("iff", fits, value, nullLiteral(type)) : value };
  });
  return extend(kept, assignments);
}

const IS_TEXT: ReadonlySet<ScalarType> = new Set<ScalarType>(["string", "dynamic"]);

function modeOf({ parameters, kind: operator, span }: syntax.ParseOperator): Mode {
  const value = parameters.find(({ name }) => name.name === "kind")?.value;
  if (value === undefined) return "simple";
  const name = value.kind === "name" ? value.name : "";
  if (name === "simple" || name === "regex" || name === "relaxed") return name;
  return refuse("UNSUPPORTED", `${operator} has no kind ${name}.`, value.span ?? span);
}

/** One regular expression for the whole text; each column is a group of it. */
function patternOf(
  operator: syntax.ParseOperator,
  mode: Mode,
  columns: Column[],
  context: ExpressionContext,
): string {
  const [some, last] = mode === "regex" ? [".*", ".*"] : [".*?", ".*"];
  const parts = operator.pattern.map((part, i): string => {
    const rest = i === operator.pattern.length - 1 ? last : some;
    if (part.kind === "star") return rest;
    if (part.kind === "column") {
      const type = part.type === null ? "string" : typeNamed(part.type);
      columns.push({ name: part.name.name, type });
      const exact = TYPE_PATTERNS[type];
      if (exact === undefined) return `(${rest})`;
      return mode === "relaxed" ? `(?:${exact}|${rest})` : exact;
    }
    const text = context.constant(part.text);
    if (text.type !== "string" || text.value === null)
      return refuse("WRONG_TYPE", "A text belongs between the columns.", part.span);
    if (mode !== "regex") return escapePattern(text.value);
    readable(text.value, part.span);
    return `(?:${withoutGroups(text.value)})`;
  });
  const whole = `^(?${flagsOf(operator)})${parts.join("")}$`;
  return mode === "regex" ? readable(whole, operator.span) : whole;
}

/** The pattern as the store reads it. */
function readable(pattern: string, span: Span): string {
  try {
    return readRegex(pattern).text;
  } catch (error) {
    if (!(error instanceof RegexSyntaxError)) throw error;
    return refuse("WRONG_ARGUMENTS", error.message, span);
  }
}

/** The pattern with groups that are not counted, since the columns are groups as well. */
function withoutGroups(pattern: string): string {
  return pattern.replace(/\\.|\[(?:\\.|[^\]])*\]|\((?:\?P?<[A-Za-z_]\w*>|(?!\?))/gs, (part) =>
    part.startsWith("(") ? "(?:" : part,
  );
}

/** `flags=` of the regular expression; `s`, so that a column may hold several lines. */
function flagsOf({ parameters }: syntax.ParseOperator): string {
  const value = parameters.find(({ name }) => name.name === "flags")?.value;
  const flags = value?.kind === "name" ? value.name : value?.kind === "literal" ? String(value.value) : "";
  if (!/^[Uims]*$/.test(flags))
    return refuse("UNSUPPORTED", `There are no flags ${flags}.`, value?.span ?? { start: 0, end: 0 });
  return flags.includes("s") ? flags : `s${flags}`;
}

export function escapePattern(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&").replaceAll("\0", "\\x00");
}

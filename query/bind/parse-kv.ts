import { call } from "../call.ts";
import { literal } from "../expression.ts";
import { extend } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type * as syntax from "../syntax/tree.ts";
import { convert } from "./conversion.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { textOf } from "./operators.ts";
import { escapePattern } from "./parse-operator.ts";
import { refuse } from "./refusal.ts";
import { typeNamed } from "./types.ts";

const OPTIONS = ["pair_delimiter", "kv_delimiter", "quote"] as const;
type Options = Partial<Record<(typeof OPTIONS)[number], string>>;

/** Columns out of a text of keys and values: of each key the first value, nothing for a key that does not occur. */
export function bindParseKv(
  input: Relation,
  operator: syntax.ParseKvOperator,
  environment: Environment,
): Relation {
  const context = new ExpressionContext(environment, input);
  const subject = textOf(context.scalar(operator.subject), "parse-kv", operator.subject.span);
  const options = readOptions(operator, context);
  const assignments = operator.columns.map(({ name, type }) => {
    const pattern = literal("string", patternOf(name.name, options));
    return { name: name.name, expression: convert(call("patternParts", subject, pattern), typeNamed(type)) };
  });
  return extend(input, assignments);
}

function readOptions(operator: syntax.ParseKvOperator, context: ExpressionContext): Options {
  const options: Options = {};
  for (const { name, value } of operator.options) {
    const known = OPTIONS.find((option) => option === name.name);
    if (known === undefined)
      return refuse(
        "UNSUPPORTED",
        `parse-kv does not take ${name.name} here; ${OPTIONS.join(", ")} are supported.`,
        name.span,
      );
    const text = context.constant(value);
    if (text.type !== "string" || text.value === null || text.value === "")
      return refuse("WRONG_TYPE", `${name.name} is a text.`, value.span);
    options[known] = text.value;
  }
  return options;
}

/** The key at the start or behind a delimiter, and its value up to the next delimiter: one of two groups, if it is quoted. */
function patternOf(
  key: string,
  { pair_delimiter: pair = " ", kv_delimiter: kv = "=", quote }: Options,
): string {
  const delimiter = escapePattern(pair);
  const [open, close] =
    quote === undefined ? [null, null] : [escapePattern(quote.charAt(0)), escapePattern(quote.slice(-1))];
  const quoted = open === null || close === null ? "" : `${open}([^${close}]*)${close}|`;
  return `(?s)(?:^|${delimiter})\\s*${escapePattern(key)}\\s*${escapePattern(kv)}\\s*(?:${quoted}(.*?))(?:${delimiter}|\\s*$)`;
}

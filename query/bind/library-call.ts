import { type Expression, literal } from "../expression.ts";
import { LIBRARY_FUNCTIONS, type LibraryFunction, type LibraryFunctionName } from "../library.ts";
import { LIBRARY_MAX_TEXTS } from "../limits.ts";
import { aggregate, columnOf, limit, project } from "../plan/build.ts";
import type * as syntax from "../syntax/tree.ts";
import { constantOf } from "./constants.ts";
import { callNamed, convert } from "./conversion.ts";
import { discover } from "./discovery.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

/**
 * A call of a function that a library computes: of a constant at once, of anything else for each of the texts that the rows
 * have, which a look at the data finds.
 */
export function bindLibraryCall(
  name: LibraryFunctionName,
  { arguments: args, span }: syntax.CallExpression,
  context: ExpressionContext,
): Expression {
  const { signature, absent, takesOption } = LIBRARY_FUNCTIONS[name];
  const [subject, option] = args;
  if (subject === undefined || args.length > (takesOption ? 2 : 1))
    return refuse("WRONG_ARGUMENTS", `It is ${signature}.`, span);
  const compute = context.environment.compilation.library[name];
  if (compute === null) return refuse("UNSUPPORTED", `${absent}.`, span);
  const chosen = option === undefined ? null : optionOf(context, option.value);
  const text = convert(context.scalar(subject.value), "string");
  const known = constantOf(text);
  if (known !== null) return literal("dynamic", computed(compute, String(known.value ?? ""), chosen) || null);
  const texts = project(context.relation, [{ name: "text", expression: text }]);
  const each = aggregate(texts, [{ name: "text", expression: columnOf(texts, "text") }], []);
  const found = discover(context.environment.compilation, limit(each, LIBRARY_MAX_TEXTS + 1), span, {
    name,
    option: chosen,
  });
  if (found.length > LIBRARY_MAX_TEXTS)
    return refuse(
      "TOO_COMPLEX",
      `${name}() is computed of ${LIBRARY_MAX_TEXTS} different texts at most: filter or summarize before it.`,
      span,
    );
  const of = new Map(found.map(([each = ""]) => [each, computed(compute, each, chosen)]));
  const pairs = [[...of.keys()], [...of.values()]].map((each) => literal("dynamic", JSON.stringify(each)));
  return callNamed("valueByText", [text, ...pairs], span);
}

/** A text, or an array of texts as its JSON text. */
function optionOf(context: ExpressionContext, expression: syntax.Expression): string {
  return String(context.constant(expression).value ?? "");
}

function computed(compute: LibraryFunction, text: string, option: string | null): string {
  return text === "" ? "" : compute(text, option);
}

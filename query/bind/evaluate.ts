import type { Relation } from "../plan/relation.ts";
import type * as syntax from "../syntax/tree.ts";
import type { Environment } from "./environment.ts";
import { refuse } from "./refusal.ts";

export function bindEvaluate(
  _input: Relation,
  operator: syntax.EvaluateOperator,
  _environment: Environment,
): Relation {
  return refuse("UNSUPPORTED", `${operator.keyword.name} is not supported.`, operator.keyword.span);
}

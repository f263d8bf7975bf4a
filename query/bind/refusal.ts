import type { Span } from "../span.ts";
import type { DiagnosticCode, Problem } from "../syntax/diagnostic.ts";

/** Ends the binding of a query: what was written means nothing here. */
export class Refusal extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.name = "Refusal";
    this.problem = problem;
  }
}

/** Throws; `suggestion` is what was probably meant. */
export function refuse(
  code: DiagnosticCode,
  message: string,
  span: Span,
  suggestion: string | null = null,
): never {
  throw new Refusal({ code, message, span, suggestion });
}

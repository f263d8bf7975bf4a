import type { KeptFunction } from "../kept.ts";
import { QUERY_TEXT_MAX_CHARS } from "../limits.ts";
import type { Problem } from "../syntax/diagnostic.ts";
import { parseQuery } from "../syntax/parser.ts";
import type { FunctionDeclaration } from "../syntax/tree.ts";

/** The text of a kept function in which something stands. */
export type KeptPart = "parameters" | "body";

/** What each text stands in to be read. A line of its own, so that a comment at its end takes nothing with it. */
const FRAMES: Readonly<Record<KeptPart, readonly [before: string, behind: string]>> = {
  parameters: ["let f = (\n", "\n) { 0 }; 0"],
  body: ["let f = () {\n", "\n}; 0"],
};

export interface PartProblem extends Problem {
  readonly part: KeptPart;
}

/** The declaration that both texts make, or what is wrong with them; places are those in the text. */
export function readKeptFunction({ parameters, body }: Pick<KeptFunction, KeptPart>):
  | { readonly declaration: FunctionDeclaration; readonly problems: null }
  | {
      readonly declaration: null;
      readonly problems: readonly PartProblem[];
    } {
  const [head, inner] = [readPart("parameters", parameters), readPart("body", body)];
  if (head.declaration === null || inner.declaration === null)
    return { declaration: null, problems: [...head.problems, ...inner.problems] };
  const { statements, body: made, span } = inner.declaration;
  return {
    declaration: { ...head.declaration, statements, body: made, span },
    problems: null,
  };
}

/** A place in the text that a compiled declaration names. */
export function placeInPart(problem: Problem, part: KeptPart, text: string): PartProblem {
  const offset = FRAMES[part][0].length;
  const within = (at: number): number => Math.max(0, Math.min(at - offset, text.length));
  return { ...problem, part, span: { start: within(problem.span.start), end: within(problem.span.end) } };
}

interface ReadPart {
  readonly declaration: FunctionDeclaration | null;
  readonly problems: readonly PartProblem[];
}

function readPart(part: KeptPart, text: string): ReadPart {
  if (text.length > QUERY_TEXT_MAX_CHARS) {
    const message = `The text is longer than ${QUERY_TEXT_MAX_CHARS} characters.`;
    const span = { start: QUERY_TEXT_MAX_CHARS, end: text.length };
    return {
      declaration: null,
      problems: [{ code: "TEXT_TOO_LONG", message, span, suggestion: null, part }],
    };
  }
  const [before, behind] = FRAMES[part];
  const { query, problems } = parseQuery(before + text + behind);
  const [statement, ...others] = query?.statements ?? [];
  if (query !== null && problems.length === 0 && statement?.kind === "let" && others.length === 0)
    if (statement.value.kind === "function") return { declaration: statement.value, problems: [] };
  const message = `The ${part} must not end before the end of the text.`;
  const span = { start: before.length, end: before.length + text.length };
  const found =
    problems.length > 0 ? problems : [{ code: "SYNTAX", message, span, suggestion: null } as const];
  return { declaration: null, problems: found.map((problem) => placeInPart(problem, part, text)) };
}

/** Kept functions never change, and every query of an organisation may use them: each is read once. */
const known = new WeakMap<KeptFunction, FunctionDeclaration | null>();

/** Null for texts that make no function. */
export function keptDeclaration(kept: KeptFunction): FunctionDeclaration | null {
  const before = known.get(kept);
  if (before !== undefined) return before;
  const { declaration } = readKeptFunction(kept);
  known.set(kept, declaration);
  return declaration;
}

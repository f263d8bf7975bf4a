import type { Cursor } from "./cursor.ts";
import type { Expression, LiteralType } from "./tree.ts";

const TERMS: ReadonlySet<LiteralType> = new Set<LiteralType>(["string", "long", "real"]);

/**
 * A predicate in which a text or a number alone means that some column has it: `"timeout" and not(404)`. Those
 * that are compared or passed on stay what they are.
 */
export function searchTerms(cursor: Cursor, predicate: Expression): Expression {
  if (predicate.kind === "literal" && TERMS.has(predicate.type))
    return cursor.made(
      { kind: "fieldSearch", left: null, right: predicate, span: predicate.span },
      predicate,
    );
  if (predicate.kind === "binary" && (predicate.operator === "and" || predicate.operator === "or")) {
    const left = searchTerms(cursor, predicate.left);
    const right = searchTerms(cursor, predicate.right);
    return left === predicate.left && right === predicate.right
      ? predicate
      : cursor.made({ ...predicate, left, right }, left, right);
  }
  if (predicate.kind !== "call" || predicate.name.name !== "not") return predicate;
  const callArguments = predicate.arguments.map((argument) => ({
    ...argument,
    value: searchTerms(cursor, argument.value),
  }));
  return cursor.made({ ...predicate, arguments: callArguments }, ...callArguments.map(({ value }) => value));
}

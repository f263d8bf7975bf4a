import type { Place } from "./problem.ts";
import type { TextPattern } from "./text-pattern.ts";

export type NumberOrder = "lt" | "lte" | "gt" | "gte";
export type FieldRelation = "equals" | "contains" | "startswith" | "endswith";

/** What is asked of a field. */
type Question =
  | { readonly kind: "text"; readonly pattern: TextPattern; readonly isCased: boolean }
  | { readonly kind: "regex"; readonly pattern: string; readonly flags: string }
  | { readonly kind: "network"; readonly network: string; readonly version: 4 | 6 }
  | { readonly kind: "order"; readonly order: NumberOrder; readonly number: number }
  | { readonly kind: "exists" }
  | {
      readonly kind: "field";
      readonly field: string;
      readonly relation: FieldRelation;
      readonly isCased: boolean;
    };

/** A question of a field by its name in Sigma, or of the whole entry. */
export interface SigmaTest {
  readonly kind: "test";
  readonly field: string | null;
  readonly question: Question;
  /** Where the rule asks it. */
  readonly place: Place;
}

/** A condition on entries. */
export type SigmaTree =
  | SigmaTest
  | { readonly kind: "all" | "any"; readonly parts: readonly SigmaTree[] }
  | { readonly kind: "not"; readonly part: SigmaTree };

export function allOfTrees(parts: readonly SigmaTree[]): SigmaTree {
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : { kind: "all", parts };
}

export function anyOfTrees(parts: readonly SigmaTree[]): SigmaTree {
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : { kind: "any", parts };
}

/** Every test of a tree. */
export function testsOf(tree: SigmaTree): SigmaTest[] {
  if (tree.kind === "test") return [tree];
  return tree.kind === "not" ? testsOf(tree.part) : tree.parts.flatMap(testsOf);
}

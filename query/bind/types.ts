import { type ScalarType, scalarTypeNamed } from "../scalar-type.ts";
import type * as syntax from "../syntax/tree.ts";
import { refuse } from "./refusal.ts";

/** The type that a query mentions by name. */
export function typeNamed({ name, span }: syntax.Identifier): ScalarType {
  return scalarTypeNamed(name) ?? refuse("WRONG_TYPE", `${name} is no type.`, span);
}

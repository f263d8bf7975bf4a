import { SCOPES } from "../access/principal.ts";

/** What a token can be given: each scope, the wildcard of each family, and `*`. */
export const GRANTABLE_SCOPES: readonly string[] = [
  "*",
  ...new Set(SCOPES.map((scope) => familyWildcard(scope))),
  ...SCOPES,
];

/**
 * The requested scopes that the granted ones do not include. A family's wildcard is included only by itself and
 * by `*`, not by the sum of the family's present scopes, because the family may grow.
 */
export function scopesBeyond(granted: readonly string[], requested: readonly string[]): string[] {
  const held = new Set(granted);
  return requested.filter((scope) => !held.has("*") && !held.has(scope) && !held.has(familyWildcard(scope)));
}

function familyWildcard(scope: string): string {
  return `${scope.slice(0, scope.indexOf(":"))}:*`;
}

import {
  type Principal,
  type Role,
  roleSatisfies,
  type Scope,
  scopesSatisfy,
} from "../../../access/principal.ts";
import { ApiError, DependencyError } from "../../../errors.ts";
import type { AuthenticatedContext } from "../../../http/route.ts";

/** A part of an answer, or why it is missing. */
interface Section<T> {
  items: T[];
  unavailable: string | null;
}

interface SectionSpec<T> {
  /** What the caller needs besides the right to read incidents, as the routes ask that show the same. */
  readonly access: { readonly role: Role; readonly scope: Scope };
  /** Whom it is asked of, as a sentence calls it. */
  readonly store: string;
  readonly read: () => Promise<T[]>;
}

/** Reads a part of an answer, whose failure takes nothing else away. Throws what is a fault of ours. */
export async function readSection<T>(
  { principal, log }: Pick<AuthenticatedContext, "principal" | "log">,
  { access, store, read }: SectionSpec<T>,
): Promise<Section<T>> {
  const missing = missingAccess(principal, access);
  if (missing !== null) return { items: [], unavailable: missing };
  try {
    return { items: await read(), unavailable: null };
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof DependencyError)) throw error;
    log.warn({ err: error }, "a part of an answer about an incident is missing");
    const isTooMuch = error instanceof ApiError && error.code.startsWith("QUERY_");
    return {
      items: [],
      unavailable: isTooMuch ? `${store} had too much to read.` : `${store} does not answer.`,
    };
  }
}

function missingAccess({ role, scopes }: Principal, access: SectionSpec<unknown>["access"]): string | null {
  if (!roleSatisfies(role, access.role)) return `Only the role ${access.role} may read this.`;
  return scopesSatisfy(scopes, access.scope) ? null : `The token lacks the scope ${access.scope}.`;
}

import { REJECTED_FUNCTIONS } from "../functions/rejected-functions.ts";

/** Why a function of Kusto is not supported here; null for a name that Kusto does not have either. */
export function unsupportedFunction(name: string): string | null {
  return REJECTED_FUNCTIONS.get(name) ?? null;
}

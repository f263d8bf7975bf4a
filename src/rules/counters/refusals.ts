import { ApiError } from "../../errors.ts";

/** Whether the store refuses what a counter asks, rather than being busy or away: asked again it refuses again. */
export function isOfTheCounter(error: unknown): boolean {
  return error instanceof ApiError && (error.code === "QUERY_TOO_EXPENSIVE" || error.code === "KQL_INVALID");
}

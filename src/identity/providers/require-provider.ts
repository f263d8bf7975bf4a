import { ApiError } from "../../errors.ts";
import type { ProviderId, ServerProvider } from "./provider.ts";

/** Throws NOT_FOUND for a provider the operator has not configured. */
export function requireProvider(providers: readonly ServerProvider[], id: ProviderId): ServerProvider {
  const provider = providers.find((candidate) => candidate.id === id);
  if (provider === undefined)
    throw new ApiError("NOT_FOUND", "This identity provider is not configured here.");
  return provider;
}

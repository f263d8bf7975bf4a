import type { Principal } from "./principal.ts";

/**
 * Establishes who sends a request. Answers null when it carries no credential; throws ApiError UNAUTHENTICATED for one
 * that is unknown, expired or revoked, and DependencyError when that cannot be found out now. An `Authorization`
 * header wins over a cookie.
 */
export interface Authenticator {
  authenticate(request: Request): Promise<Principal | null> | Principal | null;
}

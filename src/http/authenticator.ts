import type { Principal } from "../access/principal.ts";
import type { CredentialReader } from "./route.ts";

/**
 * Establishes who sends a request. Answers null when it carries no credential; throws ApiError UNAUTHENTICATED for one
 * that is unknown, expired or revoked, and DependencyError when that cannot be found out now. An `Authorization: Bearer`
 * header wins over what `readCredential` finds, and that over a cookie.
 */
export interface Authenticator {
  authenticate(
    request: Request,
    readCredential?: CredentialReader,
  ): Promise<Principal | null> | Principal | null;
}

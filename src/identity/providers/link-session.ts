import type { Principal } from "../../access/principal.ts";
import type { Authenticator } from "../authenticator.ts";
import { type Intent, signInExpired } from "./authorization-requests.ts";

/** The session that began to link, which must be the one that comes back. Throws UNAUTHENTICATED and SIGN_IN_EXPIRED. */
export async function requireBeginner(
  authenticator: Pick<Authenticator, "authenticate">,
  request: Request,
  { credentialKey, userId }: Extract<Intent, { session: unknown }>["session"],
): Promise<Principal> {
  const principal = await authenticator.authenticate(request);
  if (principal?.credentialKey !== credentialKey || principal.userId !== userId) throw signInExpired();
  return principal;
}

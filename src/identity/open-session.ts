import { hashToken, mintSessionToken } from "../access/secret-token.ts";
import type { JsonObject } from "../audit/canonical-json.ts";
import type { AnonymousChange } from "../changes/change.ts";
import type { Account } from "../membership/types.ts";
import { insertSession } from "./session-store.ts";

/**
 * Begins a session for a person who has proved who they are, and records it under the action of the route; the token
 * for the cookie.
 */
export async function openSession(
  { tx, nowMs, by }: AnonymousChange,
  { user, organization }: Account,
  facts: JsonObject = {},
): Promise<string> {
  const token = mintSessionToken();
  const sessionId = await insertSession(tx, organization.id, {
    userId: user.id,
    tokenHash: hashToken(token),
    createdAtMs: nowMs,
  });
  const change = by(organization.id, { kind: "person", userId: user.id, email: user.email });
  change.record({ resource: `session:${sessionId}`, facts });
  return token;
}

import type { TransactionSql } from "postgres";
import { hashToken, mintSessionToken } from "../access/secret-token.ts";
import type { JsonObject } from "../audit/canonical-json.ts";
import type { RequestContext } from "../http/route.ts";
import type { Account } from "../membership/types.ts";
import { insertSession } from "./session-store.ts";

/**
 * Begins a session for a person who has proved who they are, and records it under the action of the route; the token
 * for the cookie. Auditing comes last in a transaction, so this does.
 */
export async function openSession(
  tx: TransactionSql,
  caller: Pick<RequestContext, "recordFor">,
  { user, organization }: Account,
  nowMs: number,
  facts: JsonObject = {},
): Promise<string> {
  const token = mintSessionToken();
  const sessionId = await insertSession(tx, organization.id, {
    userId: user.id,
    tokenHash: hashToken(token),
    createdAtMs: nowMs,
  });
  const actor = { userId: user.id, tokenId: null, email: user.email };
  await caller.recordFor(tx, organization.id, actor, { resource: `session:${sessionId}`, facts });
  return token;
}

import type { TransactionSql } from "postgres";
import { hashToken, mintSessionToken } from "../../access/secret-token.ts";
import type { AuditEntry } from "../../audit/audit-entry.ts";
import type { JsonObject } from "../../audit/canonical-json.ts";
import type { RequestContext } from "../../http/route.ts";
import type { Account } from "../../membership/types.ts";
import { insertSession } from "../session-store.ts";

/** What happened on the way to a session, and under which action it is written down. */
export interface Happening {
  readonly action: string;
  readonly entry: AuditEntry;
}

interface ProviderSession {
  readonly nowMs: number;
  /** Made through the SSO of the organisation, in which alone it is then good. */
  readonly bySso: boolean;
  /** The action under which the sign-in itself is written down, and what of it. */
  readonly action: string;
  readonly facts: JsonObject;
  /** What was changed before, in order. */
  readonly happenings: readonly Happening[];
}

/** Begins the session of a person a provider has vouched for; its token. Auditing comes last, so this does. */
export async function openProviderSession(
  tx: TransactionSql,
  caller: Pick<RequestContext, "recordFor">,
  { user, organization }: Account,
  { nowMs, bySso, action, facts, happenings }: ProviderSession,
): Promise<string> {
  const token = mintSessionToken();
  const tokenHash = hashToken(token);
  const sessionId = await insertSession(tx, organization.id, {
    userId: user.id,
    tokenHash,
    createdAtMs: nowMs,
  });
  if (bySso) await tx`UPDATE sessions SET by_sso = true WHERE id = ${sessionId}`;
  const actor = { userId: user.id, tokenId: null, email: user.email };
  const signIn = { action, entry: { resource: `session:${sessionId}`, facts } };
  for (const happening of [...happenings, signIn])
    await caller.recordFor(tx, organization.id, actor, happening.entry, happening.action);
  return token;
}

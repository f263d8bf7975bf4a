import { hashToken, mintSessionToken } from "../../access/secret-token.ts";
import type { AuditEntry } from "../../audit/audit-entry.ts";
import type { JsonObject } from "../../audit/canonical-json.ts";
import type { AnonymousChange } from "../../changes/change.ts";
import type { Account } from "../../membership/types.ts";
import { insertSession } from "../session-store.ts";

/** What happened on the way to a session, and under which action it is written down. */
export interface Happening {
  readonly action: string;
  readonly entry: AuditEntry;
}

interface ProviderSession {
  /** Made through the SSO of the organisation, in which alone it is then good. */
  readonly bySso: boolean;
  /** The action under which the sign-in itself is written down, and what of it. */
  readonly action: string;
  readonly facts: JsonObject;
  /** What was changed before, in order. */
  readonly happenings: readonly Happening[];
}

/** Begins the session of a person a provider has vouched for; its token. */
export async function openProviderSession(
  { tx, nowMs, by }: AnonymousChange,
  { user, organization }: Account,
  { bySso, action, facts, happenings }: ProviderSession,
): Promise<string> {
  const token = mintSessionToken();
  const tokenHash = hashToken(token);
  const sessionId = await insertSession(tx, organization.id, {
    userId: user.id,
    tokenHash,
    createdAtMs: nowMs,
  });
  if (bySso) await tx`UPDATE sessions SET by_sso = true WHERE id = ${sessionId}`;
  const change = by(organization.id, { kind: "person", userId: user.id, email: user.email });
  const signIn = { action, entry: { resource: `session:${sessionId}`, facts } };
  for (const happening of [...happenings, signIn]) change.record(happening.entry, happening.action);
  return token;
}

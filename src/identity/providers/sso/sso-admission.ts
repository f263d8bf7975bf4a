import type { TransactionSql } from "postgres";
import { ApiError } from "../../../errors.ts";
import { MEMBERS_MAX } from "../../../membership/limits.ts";
import { countMembers, findRole, insertMember } from "../../../membership/member-store.ts";
import { insertPerson } from "../../account-store.ts";
import { findPersonOfEmail, markEmailVerified } from "../identity-store.ts";
import type { ProvenIdentity } from "../openid-conversation.ts";
import type { Happening } from "../provider-session.ts";
import { type ConnectionRecord, listDomains } from "./connection-store.ts";
import { domainOfEmail } from "./domain-verification.ts";
import { mappedRole } from "./role-mapping.ts";
import { insertSsoIdentity } from "./sso-identity-store.ts";

/**
 * Makes a member of somebody whom the organisation's provider signs in for the first time; their id. The provider
 * speaks for mailboxes of the organisation's verified domains only: an account with such an address is theirs if it
 * has verified the address here too, and otherwise a new one is made. Owners are not recognised by email: whoever may
 * choose the provider could otherwise become one. Throws SSO_NOT_ADMITTED, EMAIL_NOT_VERIFIED, IDENTITY_NOT_LINKED,
 * and CONFLICT for one member too many.
 */
export async function admit(
  tx: TransactionSql,
  connection: ConnectionRecord,
  identity: ProvenIdentity,
  nowMs: number,
  happenings: Happening[],
): Promise<number> {
  const { organizationId } = connection;
  const email = await requireVouchedEmail(tx, connection, identity);
  const userId = await personOf(tx, email, nowMs);
  const role = await findRole(tx, organizationId, userId);
  if (role === "owner") throw notLinked();
  if (role === null) {
    if ((await countMembers(tx, organizationId)) >= MEMBERS_MAX)
      throw new ApiError("CONFLICT", `The organisation has ${MEMBERS_MAX} members already.`);
    const given = mappedRole(connection, identity.groups);
    await insertMember(tx, organizationId, { userId, role: given, joinedAtMs: nowMs });
    const after = { userId, email, role: given };
    happenings.push({
      action: "ADD_MEMBER",
      entry: { resource: `member:${userId}`, after, facts: { by: "sso" } },
    });
  }
  // Another identity of theirs is known, as when an address has been given to somebody else.
  if (!(await linkToMember(tx, organizationId, identity, userId, nowMs, happenings))) throw notLinked();
  return userId;
}

/** Links an identity to a member; false when they have another one. */
export async function linkToMember(
  tx: TransactionSql,
  organizationId: number,
  identity: ProvenIdentity,
  userId: number,
  nowMs: number,
  happenings: Happening[],
): Promise<boolean> {
  if (!(await insertSsoIdentity(tx, organizationId, identity, userId, nowMs))) return false;
  const { issuer, subject } = identity;
  happenings.push({
    action: "LINK_IDENTITY",
    entry: { resource: "identity:sso", after: { userId, issuer, subject } },
  });
  return true;
}

async function requireVouchedEmail(
  tx: TransactionSql,
  { organizationId }: ConnectionRecord,
  { email, emailVerified }: ProvenIdentity,
): Promise<string> {
  const domains = await listDomains(tx, organizationId);
  const verified = domains.filter(({ verifiedAt }) => verifiedAt !== null).map(({ domain }) => domain);
  if (email === null || !verified.includes(domainOfEmail(email)))
    throw new ApiError(
      "SSO_NOT_ADMITTED",
      "You are no member of this organisation, and your email is of none of its verified domains.",
    );
  // The domain is the organisation's own, so its provider need not say that it has verified the mailbox too.
  if (emailVerified === false)
    throw new ApiError("EMAIL_NOT_VERIFIED", "The identity provider has not verified your email address.");
  return email;
}

async function personOf(tx: TransactionSql, email: string, nowMs: number): Promise<number> {
  const created = await insertPerson(tx, { email, passwordHash: null, createdAtMs: nowMs });
  if (created !== null) {
    await markEmailVerified(tx, created.id, nowMs);
    return created.id;
  }
  const person = await findPersonOfEmail(tx, email);
  // Somebody else may have registered the address here, and would share the account.
  if (person?.isKnownByEmail !== true) throw notLinked();
  return person.userId;
}

function notLinked(): ApiError {
  return new ApiError(
    "IDENTITY_NOT_LINKED",
    "An account with this email exists; sign in to it another way and link the organisation's provider there.",
  );
}

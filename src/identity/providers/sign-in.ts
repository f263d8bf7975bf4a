import type { TransactionSql } from "postgres";
import { hashToken } from "../../access/secret-token.ts";
import { ApiError } from "../../errors.ts";
import type { RequestContext } from "../../http/route.ts";
import type { Account } from "../../membership/types.ts";
import { defaultOrganizationName } from "../account-service.ts";
import { insertAccount } from "../account-store.ts";
import type { Authenticator } from "../authenticator.ts";
import { deleteSessions } from "../session-store.ts";
import {
  findPersonOfEmail,
  insertLink,
  markEmailVerified,
  type PersonOfEmail,
  useLink,
} from "./identity-store.ts";
import type { ProvenIdentity } from "./openid-conversation.ts";
import type { ServerProvider } from "./provider.ts";
import { type Happening, openProviderSession } from "./provider-session.ts";
import { findEntrance } from "./sso/sso-enforcement.ts";

interface SignInDependencies {
  readonly authenticator: Pick<Authenticator, "forget">;
}

type Caller = Pick<RequestContext, "changeAnonymously">;

/** A person found or made, and what is to be written down of it. */
interface Recognised {
  readonly account: Account;
  readonly action: "LOGIN" | "REGISTER";
  readonly happenings: readonly Happening[];
}

/**
 * Signs in the person a provider of the whole server vouches for, and ends the sessions whose tokens the request
 * brought; the token of the new one. Who is not known by the provider's subject is known by email only if both sides
 * have verified it, and is otherwise new. Throws IDENTITY_NOT_LINKED, EMAIL_NOT_VERIFIED and SSO_REQUIRED.
 */
export async function signInWithProvider(
  deps: SignInDependencies,
  caller: Caller,
  provider: ServerProvider,
  identity: ProvenIdentity,
  broughtTokens: readonly string[],
): Promise<string> {
  const brought = broughtTokens.map(hashToken);
  const token = await caller.changeAnonymously(async (change) => {
    const { account, action, happenings } = await recognise(change.tx, provider, identity, change.nowMs);
    await deleteSessions(change.tx, brought);
    return openProviderSession(change, account, {
      bySso: false,
      action,
      facts: { provider: provider.id, issuer: identity.issuer },
      happenings,
    });
  });
  for (const tokenHash of brought) deps.authenticator.forget(tokenHash);
  return token;
}

async function recognise(
  tx: TransactionSql,
  provider: ServerProvider,
  identity: ProvenIdentity,
  nowMs: number,
): Promise<Recognised> {
  const known = await recogniseLinked(tx, identity, nowMs);
  if (known !== null) return known;
  const { email } = identity;
  if (email === null)
    throw new ApiError(
      "EMAIL_NOT_VERIFIED",
      "The identity provider gives no email address to make an account with.",
    );
  const happenings = [linking(provider, identity)];
  const person = await findPersonOfEmail(tx, email);
  const account =
    person === null
      ? await register(tx, identity, email, nowMs)
      : await linkByEmail(tx, provider, identity, person, nowMs);
  if (account !== null) return { account, action: person === null ? "REGISTER" : "LOGIN", happenings };
  // Done in another tab while this one waited for it, or else by somebody else.
  const meanwhile = await recogniseLinked(tx, identity, nowMs);
  if (meanwhile === null) throw notLinked(provider);
  return meanwhile;
}

/** Null when the identity, or another one of the provider, is linked already. */
async function linkByEmail(
  tx: TransactionSql,
  provider: ServerProvider,
  identity: ProvenIdentity,
  { userId, isKnownByEmail }: PersonOfEmail,
  nowMs: number,
): Promise<Account | null> {
  // Otherwise whoever writes somebody's address down at the provider, or here before them, would share the account.
  if (identity.emailVerified !== true || !isKnownByEmail) throw notLinked(provider);
  const account = await requireEntrance(tx, userId);
  return (await insertLink(tx, identity, { userId, nowMs, usedAtMs: nowMs })) ? account : null;
}

async function recogniseLinked(
  tx: TransactionSql,
  identity: ProvenIdentity,
  nowMs: number,
): Promise<Recognised | null> {
  const userId = await useLink(tx, identity, nowMs);
  if (userId === null) return null;
  return { account: await requireEntrance(tx, userId), action: "LOGIN", happenings: [] };
}

async function requireEntrance(tx: TransactionSql, userId: number): Promise<Account> {
  const account = await findEntrance(tx, userId);
  if (account === null) throw new ApiError("FORBIDDEN", "You belong to no organisation any more.");
  return account;
}

/** Null when somebody has taken the address at this moment. */
async function register(
  tx: TransactionSql,
  identity: ProvenIdentity,
  email: string,
  nowMs: number,
): Promise<Account | null> {
  if (identity.emailVerified !== true)
    throw new ApiError("EMAIL_NOT_VERIFIED", "The identity provider has not verified your email address.");
  const account = await insertAccount(tx, {
    email,
    passwordHash: null,
    organizationName: defaultOrganizationName(email),
    createdAtMs: nowMs,
  });
  if (account === null) return null;
  const userId = account.user.id;
  if (!(await insertLink(tx, identity, { userId, nowMs, usedAtMs: nowMs })))
    throw new ApiError("CONFLICT", "This identity is being linked to another account.");
  await markEmailVerified(tx, userId, nowMs);
  return account;
}

/** How a new link is written down. */
export function linking(provider: ServerProvider, { issuer, subject, email }: ProvenIdentity): Happening {
  const after = { provider: provider.id, issuer, subject, email };
  return { action: "LINK_IDENTITY", entry: { resource: `identity:${provider.id}`, after } };
}

function notLinked({ name }: ServerProvider): ApiError {
  return new ApiError(
    "IDENTITY_NOT_LINKED",
    `An account with this email exists; sign in to it another way and link ${name} in your account.`,
  );
}

import type { TransactionSql } from "postgres";
import { requireEmail } from "../access/email-address.ts";
import type { Principal } from "../access/principal.ts";
import { hashToken } from "../access/secret-token.ts";
import type { AnonymousChange } from "../changes/change.ts";
import { ApiError, validationFailed } from "../errors.ts";
import type { RequestContext } from "../http/route.ts";
import { requireOpenEntrance } from "../membership/entrance.ts";
import { joinByInvite } from "../membership/join.ts";
import type { Account, User } from "../membership/types.ts";
import { askPostgres } from "../storage/ask-postgres.ts";
import type { PlanCaps } from "../usage/plan.ts";
import {
  emailIsTaken,
  findLoginPerson,
  findMembership,
  holdPassword,
  insertAccount,
  insertPerson,
  type NewAccount,
  type NewPerson,
} from "./account-store.ts";
import type { Authenticator } from "./authenticator.ts";
import { throttledAttempt } from "./login-attempt.ts";
import type { LinkIssuer } from "./mailed-links/link-issuer.ts";
import {
  acceptProof,
  hasSecondFactor,
  proveSecondFactor,
  type SecondFactorDependencies,
} from "./mfa/second-factor.ts";
import { openSession } from "./open-session.ts";
import { requireUncommonPassword } from "./password-policy.ts";
import { provePassword } from "./password-proof.ts";
import { findEntrance } from "./providers/sso/sso-enforcement.ts";
import { deleteSessions } from "./session-store.ts";
import { registrationSubjects } from "./throttle-subjects.ts";
import type { LoginBody, Me, RegisterBody } from "./types.ts";

export interface AccountDependencies extends SecondFactorDependencies {
  readonly authenticator: Pick<Authenticator, "forget">;
  readonly plans: PlanCaps;
  readonly links: Pick<LinkIssuer, "issue">;
  /** Whether a password signs in only who has confirmed their address. */
  readonly requireVerifiedEmail: boolean;
}

type Caller = Pick<RequestContext, "clientAddress" | "log" | "changeAnonymously">;

/** A person who has just proved who they are, and the token of the session that proves it from now on. */
interface SignedIn {
  account: Account;
  sessionToken: string;
}

/** A new person; without a session where they have to confirm their address first. */
export interface Registered {
  account: Account;
  sessionToken: string | null;
}

/**
 * Creates a person with an organisation of their own, or as a member of the one that invited them, mails them a link
 * that confirms their address, and signs them in, unless that has to happen first.
 * Throws INVITE_INVALID, SSO_REQUIRED, and CONFLICT for an email that has an account. Since success signs in at once, it
 * cannot look like that refusal, so registration does tell whether an email is known; every refusal counts against the
 * caller's address like a failed login, which makes asking for many emails slow.
 */
export async function registerAccount(
  deps: AccountDependencies,
  caller: Caller,
  input: RegisterBody,
): Promise<Registered> {
  const email = requireEmail(input.email);
  const { inviteToken } = input;
  if (inviteToken !== undefined && input.organizationName !== undefined)
    throw validationFailed([
      {
        path: "/organizationName",
        code: "custom",
        message: "must be absent: the invite names the organisation",
      },
    ]);
  requireUncommonPassword(input.password, "/password", email);
  const subjects = registrationSubjects(caller.clientAddress);
  const registered = await throttledAttempt(deps.throttle, subjects, caller.log, async () => {
    // Asked first so that a known email costs no hash; the insert asks again, for two people at the same moment.
    if (await askPostgres(() => emailIsTaken(deps.sql, email))) return null;
    const passwordHash = await deps.passwords.hash(input.password);
    const person = { email, passwordHash, createdAtMs: deps.now() };
    if (inviteToken !== undefined) return createInvited(deps, caller, person, inviteToken);
    const organizationName = input.organizationName ?? defaultOrganizationName(email);
    return createWithOrganization(deps, caller, { ...person, organizationName });
  });
  if (registered === null)
    throw new ApiError("CONFLICT", "This email already has an account; log in instead.");
  return registered;
}

/**
 * Signs a person in with a new session, and ends the sessions whose tokens the request brought along. Throws
 * INVALID_CREDENTIALS, after the same work whether the account exists or not, and for who knows the password
 * EMAIL_NOT_VERIFIED, MFA_REQUIRED and SSO_REQUIRED.
 */
export async function logIn(
  deps: AccountDependencies,
  caller: Caller,
  input: LoginBody,
  broughtTokens: readonly string[],
): Promise<SignedIn> {
  const email = requireEmail(input.email);
  const given = { email, password: input.password, clientAddress: caller.clientAddress };
  const person = await provePassword(deps, caller.log, given, () =>
    askPostgres(() => findLoginPerson(deps.sql, email)),
  );
  if (person === null) throw wrongCredentials();
  if (deps.requireVerifiedEmail && !person.emailIsVerified)
    throw new ApiError("EMAIL_NOT_VERIFIED", "Confirm your email address first; the link was mailed to you.");
  const { userId, passwordHash } = person;
  const proof = await proveSecondFactor(deps, caller.log, userId, input.totp);

  const brought = broughtTokens.map(hashToken);
  const signedIn = await caller.changeAnonymously(async (change) => {
    const { tx } = change;
    // A password or a second factor that changed meanwhile has ended all sessions, so this one must not begin.
    if (!(await holdPassword(tx, userId, passwordHash))) throw wrongCredentials();
    if (proof === null && (await hasSecondFactor(tx, userId))) throw wrongCredentials();
    const facts = await acceptProof(tx, userId, proof);
    const account = await findEntrance(tx, userId);
    if (account === null) throw wrongCredentials();
    await deleteSessions(tx, brought);
    return { account, sessionToken: await openSession(change, account, facts) };
  });
  for (const tokenHash of brought) deps.authenticator.forget(tokenHash);
  return signedIn;
}

/** Ends the sessions with these tokens; unknown ones are ignored. */
export async function logOut(
  deps: AccountDependencies,
  caller: Caller,
  tokens: readonly string[],
): Promise<void> {
  if (tokens.length === 0) return;
  const tokenHashes = tokens.map(hashToken);
  await caller.changeAnonymously(async ({ tx, by }) => {
    for (const { id, organizationId, userId, email } of await deleteSessions(tx, tokenHashes))
      by(organizationId, { kind: "person", userId, email }).record({ resource: `session:${id}` });
  });
  for (const tokenHash of tokenHashes) deps.authenticator.forget(tokenHash);
}

/** Who the caller is, what the plan allows and how much of it is used. */
export async function describeCaller(deps: AccountDependencies, principal: Principal): Promise<Me> {
  const { organizationId, userId } = principal;
  const membership = await askPostgres(() => findMembership(deps.sql, organizationId, userId));
  if (membership === null) throw new ApiError("UNAUTHENTICATED", "The membership has ended.");
  const { name, maxMonitors, monthlyChecks, monthlyLogBytes } = deps.plans.plan;
  const used = await deps.plans.usage(organizationId);
  return {
    ...membership.account,
    role: membership.role,
    emailVerified: membership.emailVerified,
    mfaEnabled: membership.mfaEnabled,
    scopes: [...principal.scopes],
    plan: { name, limits: { monitors: maxMonitors, monthlyChecks, monthlyLogBytes } },
    quota: {
      monitors: quotaOf(maxMonitors, used.monitors),
      monthlyChecks: quotaOf(monthlyChecks, used.monthlyChecks),
      monthlyLogBytes: quotaOf(monthlyLogBytes, used.monthlyLogBytes),
    },
  };
}

/** What is not limited is not counted. */
function quotaOf(limit: number | null, used: number): { limit: number | null; used: number | null } {
  return { limit, used: limit === null ? null : used };
}

async function createWithOrganization(
  deps: AccountDependencies,
  caller: Caller,
  input: NewAccount,
): Promise<Registered | null> {
  return caller.changeAnonymously(async (change) => {
    const account = await insertAccount(change.tx, input);
    if (account === null) return null;
    await mailVerification(deps, change.tx, account.user);
    return admit(deps, change, account);
  });
}

async function createInvited(
  deps: AccountDependencies,
  caller: Caller,
  input: NewPerson,
  inviteToken: string,
): Promise<Registered | null> {
  return caller.changeAnonymously(async (change) => {
    const user = await insertPerson(change.tx, input);
    if (user === null) return null;
    const { organization, role } = await joinByInvite(change, { user, token: inviteToken });
    await requireOpenEntrance(change.tx, organization.id, role);
    await mailVerification(deps, change.tx, user);
    return admit(deps, change, { user, organization });
  });
}

function mailVerification(deps: AccountDependencies, tx: TransactionSql, { id, email }: User): Promise<void> {
  return deps.links.issue(tx, "verify-email", { userId: id, email });
}

/** Signs a new person in, unless they have to confirm their address first. */
async function admit(
  deps: AccountDependencies,
  change: AnonymousChange,
  account: Account,
): Promise<Registered> {
  if (!deps.requireVerifiedEmail) return { account, sessionToken: await openSession(change, account) };
  const { user, organization } = account;
  const made = change.by(organization.id, { kind: "person", userId: user.id, email: user.email });
  made.record({ resource: `user:${user.id}` });
  return { account, sessionToken: null };
}

function wrongCredentials(): ApiError {
  return new ApiError("INVALID_CREDENTIALS", "The email or the password is wrong.");
}

/** The local part has at most 64 characters, so the name fits its column. */
export function defaultOrganizationName(email: string): string {
  return `${email.slice(0, email.lastIndexOf("@"))}'s organization`;
}

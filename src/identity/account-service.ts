import type { Sql } from "postgres";
import { ApiError } from "../errors.ts";
import type { Principal } from "../http/principal.ts";
import type { RequestContext } from "../http/route.ts";
import { validationFailed } from "../http/validate.ts";
import { askPostgres } from "../storage/ask-postgres.ts";
import type { PlanCaps } from "../usage/plan.ts";
import {
  emailIsTaken,
  findLoginAccount,
  findMembership,
  insertAccount,
  type NewAccount,
} from "./account-store.ts";
import type { Authenticator } from "./authenticator.ts";
import { normaliseEmail } from "./email-address.ts";
import { throttledAttempt } from "./login-attempt.ts";
import type { LoginThrottle } from "./login-throttle.ts";
import { openSession } from "./open-session.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import { hashToken } from "./secret-token.ts";
import { deleteSessions } from "./session-store.ts";
import { loginSubjects, registrationSubjects } from "./throttle-subjects.ts";
import type { Account, LoginBody, Me, RegisterBody } from "./types.ts";

export interface AccountDependencies {
  readonly sql: Sql;
  readonly passwords: PasswordHasher;
  readonly throttle: LoginThrottle;
  readonly authenticator: Pick<Authenticator, "forget">;
  readonly plans: PlanCaps;
  readonly now: () => number;
}

type Caller = Pick<RequestContext, "clientAddress" | "log" | "recordFor">;

/** A person who has just proved who they are, and the token of the session that proves it from now on. */
export interface SignedIn {
  account: Account;
  sessionToken: string;
}

/**
 * Creates a person with an organisation of their own and signs them in. Throws CONFLICT for an email that has an
 * account. Since success signs in at once, it cannot look like that refusal, so registration does tell whether an
 * email is known; every refusal counts against the caller's address like a failed login, which makes asking for
 * many emails slow.
 */
export async function registerAccount(
  deps: AccountDependencies,
  caller: Caller,
  input: RegisterBody,
): Promise<SignedIn> {
  const email = requireEmail(input.email);
  const subjects = registrationSubjects(caller.clientAddress);
  const signedIn = await throttledAttempt(deps.throttle, subjects, caller.log, async () => {
    // Asked first so that a known email costs no hash; the insert asks again, for two people at the same moment.
    if (await askPostgres(() => emailIsTaken(deps.sql, email))) return null;
    const passwordHash = await deps.passwords.hash(input.password);
    const organizationName = input.organizationName ?? defaultOrganizationName(email);
    return createSignedIn(deps, caller, { email, passwordHash, organizationName, createdAtMs: deps.now() });
  });
  if (signedIn === null) throw new ApiError("CONFLICT", "This email already has an account; log in instead.");
  return signedIn;
}

/**
 * Signs a person in with a new session, and ends the sessions whose tokens the request brought along. Throws
 * INVALID_CREDENTIALS, after the same work whether the account exists or not.
 */
export async function logIn(
  deps: AccountDependencies,
  caller: Caller,
  input: LoginBody,
  broughtTokens: readonly string[],
): Promise<SignedIn> {
  const email = requireEmail(input.email);
  const subjects = loginSubjects(email, caller.clientAddress);
  const account = await throttledAttempt(deps.throttle, subjects, caller.log, async () => {
    const found = await askPostgres(() => findLoginAccount(deps.sql, email));
    const matches = await deps.passwords.verify(input.password, found?.passwordHash ?? null);
    return matches && found !== null ? found.account : null;
  });
  if (account === null) throw new ApiError("INVALID_CREDENTIALS", "The email or the password is wrong.");

  const brought = broughtTokens.map(hashToken);
  const sessionToken = await askPostgres(() =>
    deps.sql.begin(async (tx) => {
      await deleteSessions(tx, brought);
      return openSession(tx, caller, account, deps.now());
    }),
  );
  for (const tokenHash of brought) deps.authenticator.forget(tokenHash);
  return { account, sessionToken };
}

/** Ends the sessions with these tokens; unknown ones are ignored. */
export async function logOut(
  deps: AccountDependencies,
  caller: Caller,
  tokens: readonly string[],
): Promise<void> {
  if (tokens.length === 0) return;
  const tokenHashes = tokens.map(hashToken);
  await askPostgres(() =>
    deps.sql.begin(async (tx) => {
      for (const { id, organizationId, userId, email } of await deleteSessions(tx, tokenHashes))
        await caller.recordFor(
          tx,
          organizationId,
          { userId, tokenId: null, email },
          {
            resource: `session:${id}`,
          },
        );
    }),
  );
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
    scopes: [...principal.scopes],
    plan: { name, limits: { monitors: maxMonitors, monthlyChecks, monthlyLogBytes } },
    quota: {
      monitors: quotaOf(maxMonitors, 0),
      monthlyChecks: quotaOf(monthlyChecks, used.monthlyChecks),
      monthlyLogBytes: quotaOf(monthlyLogBytes, used.monthlyLogBytes),
    },
  };
}

/** What is not limited is not counted. */
function quotaOf(limit: number | null, used: number): { limit: number | null; used: number | null } {
  return { limit, used: limit === null ? null : used };
}

async function createSignedIn(
  deps: AccountDependencies,
  caller: Caller,
  input: NewAccount,
): Promise<SignedIn | null> {
  return askPostgres(() =>
    deps.sql.begin(async (tx) => {
      const account = await insertAccount(tx, input);
      if (account === null) return null;
      return { account, sessionToken: await openSession(tx, caller, account, input.createdAtMs) };
    }),
  );
}

/** The local part has at most 64 characters, so the name fits its column. */
function defaultOrganizationName(email: string): string {
  return `${email.slice(0, email.lastIndexOf("@"))}'s organization`;
}

function requireEmail(text: string): string {
  const email = normaliseEmail(text);
  if (email === null) {
    throw validationFailed([{ path: "/email", code: "invalid_string", message: "must be an email address" }]);
  }
  return email;
}

import { Type } from "typebox";
import { isSessionToken } from "../access/secret-token.ts";
import { route } from "../http/define-route.ts";
import { IdParams } from "../http/record-schemas.ts";
import type { Reply, RequestContext } from "../http/route.ts";
import { Account } from "../membership/types.ts";
import {
  type AccountDependencies,
  describeCaller,
  logIn,
  logOut,
  type Registered,
  registerAccount,
} from "./account-service.ts";
import { CREDENTIALS_BODY_MAX_BYTES, TOKEN_BODY_MAX_BYTES } from "./limits.ts";
import type { LinkIssuer } from "./mailed-links/link-issuer.ts";
import { type MailedLinkRouteDependencies, mailedLinkRoutes } from "./mailed-links/routes.ts";
import type { MfaDependencies } from "./mfa/mfa-service.ts";
import { mfaRoutes } from "./mfa/routes.ts";
import { changePassword, type PasswordChangeDependencies, preparePasswordChange } from "./password-change.ts";
import {
  clearedSessionCookie,
  ownSessionHash,
  readSessionCookies,
  type SessionCookieOptions,
  sessionCookie,
} from "./session-cookie.ts";
import { createToken, listOwnTokens, revokeToken } from "./token-service.ts";
import {
  ChangePasswordBody,
  CreateTokenBody,
  LoginBody,
  Me,
  MintedToken,
  RegisterBody,
  Token,
} from "./types.ts";

interface IdentityRouteDependencies
  extends AccountDependencies,
    MailedLinkRouteDependencies,
    PasswordChangeDependencies,
    MfaDependencies {
  readonly cookie: SessionCookieOptions;
  readonly links: LinkIssuer;
}

/** Signing up, in and out, second factors, mailed links, the caller's own account, and their personal access tokens. */
export function identityRoutes(deps: IdentityRouteDependencies) {
  return [
    ...authenticationRoutes(deps),
    ...mailedLinkRoutes(deps),
    ...mfaRoutes(deps),
    accountRoute(deps),
    passwordRoute(deps),
    ...tokenRoutes(deps),
  ];
}

function authenticationRoutes(deps: IdentityRouteDependencies) {
  const withCookie = (status: number, { account, sessionToken }: Registered): Reply => ({
    status,
    body: account,
    ...(sessionToken !== null && { headers: { "set-cookie": sessionCookie(sessionToken, deps.cookie) } }),
  });
  return [
    route({
      method: "POST",
      path: "/api/v1/auth/register",
      tag: "Authentication",
      summary: "Make an account with an organisation of its own and sign in",
      access: "public",
      audit: "REGISTER",
      body: { kind: "json", schema: RegisterBody, maxBytes: CREDENTIALS_BODY_MAX_BYTES },
      responses: {
        201: {
          description:
            "The account; the session is in the cookie, unless the address has to be confirmed first.",
          schema: Account,
        },
      },
      errors: ["CONFLICT", "INVITE_INVALID", "SSO_REQUIRED"],
      handler: async (context, { body }) => withCookie(201, await registerAccount(deps, context, body)),
    }),
    route({
      method: "POST",
      path: "/api/v1/auth/login",
      tag: "Authentication",
      summary: "Sign in with a password",
      access: "public",
      audit: "LOGIN",
      body: { kind: "json", schema: LoginBody, maxBytes: CREDENTIALS_BODY_MAX_BYTES },
      responses: { 200: { description: "The account; the session is in the cookie.", schema: Account } },
      errors: ["INVALID_CREDENTIALS", "EMAIL_NOT_VERIFIED", "MFA_REQUIRED", "SSO_REQUIRED"],
      handler: async (context, { body }) =>
        withCookie(200, await logIn(deps, context, body, readSessionTokens(context))),
    }),
    route({
      method: "POST",
      path: "/api/v1/auth/logout",
      tag: "Authentication",
      summary: "End the session",
      access: "public",
      audit: "LOGOUT",
      responses: { 204: { description: "Signed out, also when there was no session." } },
      handler: async (context: RequestContext) => {
        await logOut(deps, context, readSessionTokens(context));
        return { status: 204, headers: { "set-cookie": clearedSessionCookie(deps.cookie) } };
      },
    }),
  ];
}

function accountRoute(deps: IdentityRouteDependencies) {
  return route({
    method: "GET",
    path: "/api/v1/me",
    tag: "Account",
    summary: "The caller, their organisation, plan and quota",
    access: { role: "viewer", scope: "account:read" },
    responses: { 200: { description: "The caller.", schema: Me } },
    handler: async (context) => {
      const body = await describeCaller(deps, context.principal);
      const [token] = readSessionTokens(context);
      if (context.principal.kind !== "session" || token === undefined) return { status: 200, body };
      // A browser counts the life of a cookie from when it was set: it is set again for the session to slide there too.
      return { status: 200, body, headers: { "set-cookie": sessionCookie(token, deps.cookie) } };
    },
  });
}

function passwordRoute(deps: IdentityRouteDependencies) {
  return route({
    method: "POST",
    path: "/api/v1/me/change-password",
    tag: "Account",
    summary: "Choose another password; ends the person's other sessions",
    access: { role: "viewer", scope: "account:write" },
    audit: "CHANGE_PASSWORD",
    body: { kind: "json", schema: ChangePasswordBody, maxBytes: CREDENTIALS_BODY_MAX_BYTES },
    responses: { 204: { description: "The new password works from now on." } },
    errors: ["INVALID_CREDENTIALS", "CONFLICT"],
    handler: async (context, { body }) => {
      const replacement = await preparePasswordChange(deps, context, body);
      return context.change(
        async (made) => {
          await changePassword(made, deps, ownSessionHash(context), replacement);
          return { status: 204 };
        },
        { reachesFurther: "a password belongs to the person, and so do the sessions in other organisations" },
      );
    },
  });
}

function tokenRoutes(deps: IdentityRouteDependencies) {
  return [
    route({
      method: "GET",
      path: "/api/v1/me/tokens",
      tag: "Account",
      summary: "The caller's access tokens",
      access: { role: "viewer", scope: "account:read" },
      responses: { 200: { description: "Tokens that are not revoked.", schema: Type.Array(Token) } },
      handler: async ({ principal }) => ({ status: 200, body: await listOwnTokens(deps.sql, principal) }),
    }),
    route({
      method: "POST",
      path: "/api/v1/me/tokens",
      tag: "Account",
      summary: "Make an access token; any role may, as a token never exceeds its owner's role",
      access: { role: "viewer", scope: "tokens:write" },
      audit: "CREATE_TOKEN",
      body: { kind: "json", schema: CreateTokenBody, maxBytes: TOKEN_BODY_MAX_BYTES },
      responses: { 201: { description: "The token, shown this once.", schema: MintedToken } },
      errors: ["CONFLICT"],
      handler: ({ change, principal }, { body }) =>
        change(async (made) => ({ status: 201, body: await createToken(made, principal, body) })),
    }),
    route({
      method: "DELETE",
      path: "/api/v1/me/tokens/:id",
      tag: "Account",
      summary: "Revoke an access token",
      access: { role: "viewer", scope: "tokens:write" },
      audit: "REVOKE_TOKEN",
      params: IdParams,
      responses: { 204: { description: "Revoked; it fails from now on." } },
      handler: ({ change }, { params }) =>
        change(async (made) => {
          await revokeToken(made, deps.authenticator, Number(params.id));
          return { status: 204 };
        }),
    }),
  ];
}

function readSessionTokens({ request }: RequestContext): string[] {
  return readSessionCookies(request).filter(isSessionToken);
}

import { route } from "../http/define-route.ts";
import type { Reply, RequestContext, Route } from "../http/route.ts";
import { IdParams } from "../http/schemas.ts";
import { Type } from "typebox";
import {
  type AccountDependencies,
  describeCaller,
  logIn,
  logOut,
  registerAccount,
  type SignedIn,
} from "./account-service.ts";
import { clearedSessionCookie, readSessionCookies, type SessionCookieOptions, sessionCookie } from "./session-cookie.ts";
import { createToken, listOwnTokens, revokeToken } from "./token-service.ts";
import { Account, CreateTokenBody, LoginBody, Me, MintedToken, RegisterBody, Token } from "./types.ts";

const SIGN_IN_BODY_MAX_BYTES = 16 * 1024;
const TOKEN_BODY_MAX_BYTES = 64 * 1024;

export interface IdentityRouteDependencies extends AccountDependencies {
  readonly cookie: SessionCookieOptions;
}

/** Signing up, in and out, the caller's own account, and their personal access tokens. */
export function identityRoutes(deps: IdentityRouteDependencies): Route[] {
  return [...authenticationRoutes(deps), accountRoute(deps), ...tokenRoutes(deps)];
}

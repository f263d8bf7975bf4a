import { Type } from "typebox";
import { isSessionToken } from "../../../access/secret-token.ts";
import { ApiError } from "../../../errors.ts";
import { route } from "../../../http/define-route.ts";
import type { RequestContext } from "../../../http/route.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import type { Authenticator } from "../../authenticator.ts";
import { readSessionCookies, type SessionCookieOptions, sessionCookie } from "../../session-cookie.ts";
import {
  type AuthorizationFlowDependencies,
  type AuthorizationRoute,
  beginAuthorization,
  finishAuthorization,
  takeBegun,
} from "../authorization-flow.ts";
import { type Intent, signInExpired } from "../authorization-requests.ts";
import { answerSignedIn } from "../callback-answer.ts";
import { SIGN_IN_IDLE_TIMEOUT_SEC } from "../limits.ts";
import { requireBeginner } from "../link-session.ts";
import type { ProvenIdentity } from "../openid-conversation.ts";
import { requireOwnPage } from "../own-page.ts";
import { CallbackQuery, StartQuery } from "../sign-in-queries.ts";
import { SSO_CALLBACK_PATH, secretPurpose } from "./connection-service.ts";
import { type ConnectionRecord, findConnection, findConnectionOfSlug } from "./connection-store.ts";
import { linkSsoIdentity } from "./sso-linking.ts";
import { requirePersonalSession } from "./sso-sessions.ts";
import { signInBySso } from "./sso-sign-in.ts";
import { SLUG_PATTERN } from "./types.ts";

interface SsoRouteDependencies extends AuthorizationFlowDependencies {
  readonly authenticator: Pick<Authenticator, "authenticate" | "forget">;
  readonly cookie: SessionCookieOptions;
}

const SlugParams = Type.Object({ slug: Type.String({ pattern: SLUG_PATTERN }) });

/** Signing in through the identity provider of an organisation, and linking it. */
export function ssoRoutes(deps: SsoRouteDependencies) {
  return [startRoute(deps), callbackRoute(deps), linkRoute(deps)];
}

function startRoute(deps: SsoRouteDependencies) {
  return route({
    method: "GET",
    path: "/api/v1/auth/sso/:slug/start",
    tag: "Authentication",
    summary: "Begin signing in through an organisation's identity provider",
    access: "public",
    params: SlugParams,
    query: StartQuery,
    idleTimeoutSec: SIGN_IN_IDLE_TIMEOUT_SEC,
    responses: { 302: { description: "To the provider" } },
    errors: ["PROVIDER_UNAVAILABLE"],
    handler: async (context, { params, query }) => {
      const connection = await askPostgres(() => findConnectionOfSlug(deps.sql, params.slug));
      if (connection === null) throw noConnection();
      const intent: Intent = { kind: "sso", organizationId: connection.organizationId };
      return beginAuthorization(deps, context, routeOf(deps, connection), {
        intent,
        returnTo: query.returnTo,
      });
    },
  });
}

function callbackRoute(deps: SsoRouteDependencies) {
  return route({
    method: "GET",
    path: SSO_CALLBACK_PATH,
    tag: "Authentication",
    summary: "Where the identity providers of organisations send the browser back to",
    access: "public",
    audit: "SSO_LOGIN",
    query: CallbackQuery,
    idleTimeoutSec: SIGN_IN_IDLE_TIMEOUT_SEC,
    responses: { 302: { description: "Signed in or linked; to where the sign-in was begun for" } },
    errors: [
      "UNAUTHENTICATED",
      "SIGN_IN_EXPIRED",
      "PROVIDER_REFUSED",
      "PROVIDER_ANSWER_INVALID",
      "PROVIDER_UNAVAILABLE",
      "SSO_NOT_ADMITTED",
      "EMAIL_NOT_VERIFIED",
      "IDENTITY_NOT_LINKED",
      "CONFLICT",
    ],
    handler: async (context, { query: { state } }) => {
      const begun = await takeBegun(deps, context, state);
      const { intent, returnPath } = begun;
      if ((intent.kind !== "sso" && intent.kind !== "sso-link") || state === undefined) throw signInExpired();
      const connection = await askPostgres(() => findConnection(deps.sql, intent.organizationId));
      if (connection === null) throw signInExpired();
      const identity = await finishAuthorization(deps, context, routeOf(deps, connection), begun, state);
      const cookie = await settle(deps, context, connection, intent, identity);
      return answerSignedIn(deps, { state, returnPath, sessionCookie: cookie });
    },
  });
}

function linkRoute(deps: SsoRouteDependencies) {
  return route({
    method: "GET",
    path: "/api/v1/me/oauth/sso/start",
    tag: "Account",
    summary: "Begin linking the organisation's identity provider to the caller's account; takes a session",
    access: { role: "viewer", scope: "account:write" },
    query: StartQuery,
    idleTimeoutSec: SIGN_IN_IDLE_TIMEOUT_SEC,
    responses: { 302: { description: "To the provider" } },
    errors: ["NOT_FOUND", "PROVIDER_UNAVAILABLE"],
    handler: async (context, { query }) => {
      const { principal, request } = context;
      const { organizationId, credentialKey, userId } = principal;
      requireOwnPage(request);
      const connection = await askPostgres(() => findConnection(deps.sql, organizationId));
      if (connection === null) throw noConnection();
      await askPostgres(() => requirePersonalSession(deps.sql, principal));
      const intent: Intent = { kind: "sso-link", organizationId, session: { credentialKey, userId } };
      return beginAuthorization(deps, context, routeOf(deps, connection), {
        intent,
        returnTo: query.returnTo,
      });
    },
  });
}

/** Does what the person came back for; the cookie of the new session, if there is one. */
async function settle(
  deps: SsoRouteDependencies,
  context: RequestContext,
  connection: ConnectionRecord,
  intent: Extract<Intent, { organizationId: number }>,
  identity: ProvenIdentity,
): Promise<string | null> {
  if (intent.kind === "sso") {
    const brought = readSessionCookies(context.request).filter(isSessionToken);
    return sessionCookie(await signInBySso(deps, context, connection, identity, brought), deps.cookie);
  }
  const principal = await requireBeginner(deps.authenticator, context.request, intent.session);
  await linkSsoIdentity(context, connection, identity, principal);
  return null;
}

function routeOf({ box }: SsoRouteDependencies, connection: ConnectionRecord): AuthorizationRoute {
  const { organizationId, issuer, clientId, sealedSecret, groupsClaim } = connection;
  const clientSecret = box.open(sealedSecret, secretPurpose(organizationId));
  return { client: { issuer, clientId, clientSecret }, callbackPath: SSO_CALLBACK_PATH, groupsClaim };
}

function noConnection(): ApiError {
  return new ApiError("NOT_FOUND", "No organisation signs in here.");
}

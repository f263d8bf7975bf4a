import { Type } from "typebox";
import { isSessionToken } from "../../access/secret-token.ts";
import { route } from "../../http/define-route.ts";
import type { RequestContext } from "../../http/route.ts";
import type { Authenticator } from "../authenticator.ts";
import { readSessionCookies, type SessionCookieOptions, sessionCookie } from "../session-cookie.ts";
import {
  type AuthorizationFlowDependencies,
  type AuthorizationRoute,
  beginAuthorization,
  finishAuthorization,
  takeBegun,
} from "./authorization-flow.ts";
import { type Intent, signInExpired } from "./authorization-requests.ts";
import { answerSignedIn } from "./callback-answer.ts";
import { SIGN_IN_IDLE_TIMEOUT_SEC } from "./limits.ts";
import { requireBeginner } from "./link-session.ts";
import { linkIdentity } from "./linking.ts";
import type { ProvenIdentity } from "./openid-conversation.ts";
import { PROVIDER_IDS, type ProviderId, type ServerProvider } from "./provider.ts";
import { requireProvider } from "./require-provider.ts";
import { signInWithProvider } from "./sign-in.ts";
import { CallbackQuery, StartQuery } from "./sign-in-queries.ts";
import { OfferedProvider } from "./types.ts";

export interface SignInRouteDependencies extends AuthorizationFlowDependencies {
  readonly providers: readonly ServerProvider[];
  readonly authenticator: Pick<Authenticator, "authenticate" | "forget">;
  readonly cookie: SessionCookieOptions;
}

/** The providers of the whole server: which there are, and signing in through them. */
export function signInRoutes(deps: SignInRouteDependencies) {
  return [offerRoute(deps), ...PROVIDER_IDS.flatMap((id) => [startRoute(deps, id), callbackRoute(deps, id)])];
}

function offerRoute({ providers, publicUrl }: SignInRouteDependencies) {
  return route({
    method: "GET",
    path: "/api/v1/auth/providers",
    tag: "Authentication",
    summary: "The identity providers one can sign in through",
    access: "public",
    responses: { 200: { description: "Those configured", schema: Type.Array(OfferedProvider) } },
    handler: () => ({
      status: 200,
      body: providers.map(({ id, name }) => ({
        id,
        name,
        startUrl: new URL(`/api/v1/auth/${id}/start`, publicUrl).href,
      })),
    }),
  });
}

function startRoute(deps: SignInRouteDependencies, id: ProviderId) {
  return route({
    method: "GET",
    path: `/api/v1/auth/${id}/start`,
    tag: "Authentication",
    summary: "Begin signing in through the identity provider",
    access: "public",
    query: StartQuery,
    idleTimeoutSec: SIGN_IN_IDLE_TIMEOUT_SEC,
    responses: { 302: { description: "To the provider" } },
    errors: ["NOT_FOUND", "PROVIDER_UNAVAILABLE"],
    handler: (context, { query }) => {
      const provider = requireProvider(deps.providers, id);
      const intent: Intent = { kind: "sign-in", provider: id };
      return beginAuthorization(deps, context, routeOf(provider), { intent, returnTo: query.returnTo });
    },
  });
}

function callbackRoute(deps: SignInRouteDependencies, id: ProviderId) {
  return route({
    method: "GET",
    path: `/api/v1/auth/${id}/callback`,
    tag: "Authentication",
    summary: "Where the identity provider sends the browser back to",
    access: "public",
    audit: "LOGIN",
    query: CallbackQuery,
    idleTimeoutSec: SIGN_IN_IDLE_TIMEOUT_SEC,
    responses: { 302: { description: "Signed in or linked; to where the sign-in was begun for" } },
    errors: [
      "NOT_FOUND",
      "UNAUTHENTICATED",
      "FORBIDDEN",
      "SIGN_IN_EXPIRED",
      "PROVIDER_REFUSED",
      "PROVIDER_ANSWER_INVALID",
      "PROVIDER_UNAVAILABLE",
      "EMAIL_NOT_VERIFIED",
      "IDENTITY_NOT_LINKED",
      "SSO_REQUIRED",
      "CONFLICT",
    ],
    handler: async (context, { query: { state } }) => {
      const provider = requireProvider(deps.providers, id);
      const begun = await takeBegun(deps, context, state);
      const { intent, returnPath } = begun;
      const isOurs = (intent.kind === "sign-in" || intent.kind === "link") && intent.provider === id;
      if (!isOurs || state === undefined) throw signInExpired();
      const identity = await finishAuthorization(deps, context, routeOf(provider), begun, state);
      const cookie = await settle(deps, context, provider, intent, identity);
      return answerSignedIn(deps, { state, returnPath, sessionCookie: cookie });
    },
  });
}

/** Does what the person came back for; the cookie of the new session, if there is one. */
async function settle(
  deps: SignInRouteDependencies,
  context: RequestContext,
  provider: ServerProvider,
  intent: Extract<Intent, { provider: ProviderId }>,
  identity: ProvenIdentity,
): Promise<string | null> {
  if (intent.kind === "sign-in") {
    const brought = readSessionCookies(context.request).filter(isSessionToken);
    const token = await signInWithProvider(deps, context, provider, identity, brought);
    return sessionCookie(token, deps.cookie);
  }
  const principal = await requireBeginner(deps.authenticator, context.request, intent.session);
  await linkIdentity(context, provider, identity, principal);
  return null;
}

export function routeOf(provider: ServerProvider): AuthorizationRoute {
  return { client: provider, callbackPath: `/api/v1/auth/${provider.id}/callback` };
}

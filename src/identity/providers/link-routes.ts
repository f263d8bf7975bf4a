import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { beginAuthorization } from "./authorization-flow.ts";
import type { Intent } from "./authorization-requests.ts";
import { SIGN_IN_IDLE_TIMEOUT_SEC } from "./limits.ts";
import { listLinkedIdentities, unlinkIdentity } from "./linking.ts";
import { requireOwnPage } from "./own-page.ts";
import { PROVIDER_IDS, type ProviderId } from "./provider.ts";
import { requireProvider } from "./require-provider.ts";
import { StartQuery } from "./sign-in-queries.ts";
import { routeOf, type SignInRouteDependencies } from "./sign-in-routes.ts";
import { requirePersonalSession } from "./sso/sso-sessions.ts";
import { LinkedIdentity } from "./types.ts";

/** The identity providers a person has linked to their account. */
export function linkRoutes(deps: SignInRouteDependencies) {
  return [listRoute(deps), ...PROVIDER_IDS.flatMap((id) => [startRoute(deps, id), unlinkRoute(deps, id)])];
}

function listRoute({ sql, providers }: SignInRouteDependencies) {
  return route({
    method: "GET",
    path: "/api/v1/me/oauth",
    tag: "Account",
    summary: "The identity providers linked to the caller's account",
    access: { role: "viewer", scope: "account:read" },
    responses: { 200: { description: "The links", schema: Type.Array(LinkedIdentity) } },
    handler: async ({ principal }) => ({
      status: 200,
      body: await listLinkedIdentities(sql, providers, principal),
    }),
  });
}

function startRoute(deps: SignInRouteDependencies, id: ProviderId) {
  return route({
    method: "GET",
    path: `/api/v1/me/oauth/${id}/start`,
    tag: "Account",
    summary: "Begin linking the identity provider to the caller's account; takes a session",
    access: { role: "viewer", scope: "account:write" },
    query: StartQuery,
    idleTimeoutSec: SIGN_IN_IDLE_TIMEOUT_SEC,
    responses: { 302: { description: "To the provider" } },
    errors: ["NOT_FOUND", "PROVIDER_UNAVAILABLE"],
    handler: async (context, { query }) => {
      const provider = requireProvider(deps.providers, id);
      const { principal, request } = context;
      requireOwnPage(request);
      await askPostgres(() => requirePersonalSession(deps.sql, principal));
      const { credentialKey, userId } = principal;
      const intent: Intent = { kind: "link", provider: id, session: { credentialKey, userId } };
      return beginAuthorization(deps, context, routeOf(provider), { intent, returnTo: query.returnTo });
    },
  });
}

function unlinkRoute(deps: SignInRouteDependencies, id: ProviderId) {
  return route({
    method: "DELETE",
    path: `/api/v1/me/oauth/${id}`,
    tag: "Account",
    summary: "Unlink the identity provider; refused when it is the only way to sign in",
    access: { role: "viewer", scope: "account:write" },
    audit: "UNLINK_IDENTITY",
    responses: { 204: { description: "Unlinked" } },
    errors: ["NOT_FOUND", "CONFLICT"],
    handler: ({ change, principal }) => {
      const provider = requireProvider(deps.providers, id);
      return change(
        async (made) => {
          await unlinkIdentity(made, principal, deps.providers, provider);
          return { status: 204 };
        },
        { reachesFurther: "the identities of a person belong to no organisation" },
      );
    },
  });
}

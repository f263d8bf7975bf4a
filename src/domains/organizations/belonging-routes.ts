import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { type SessionCookieOptions, sessionCookie } from "../../identity/session-cookie.ts";
import { MEMBERSHIP_BODY_MAX_BYTES } from "../../membership/limits.ts";
import { Account, Belonging, OwnOrganization } from "../../membership/types.ts";
import {
  acceptInvite,
  listOwnOrganizations,
  type SignedInDependencies,
  switchOrganization,
} from "./organization-service.ts";
import { AcceptInviteBody, SwitchOrganizationBody } from "./types.ts";

export interface BelongingRouteDependencies extends SignedInDependencies {
  readonly cookie: SessionCookieOptions;
}

/**
 * The organisations of one person. What concerns another organisation than that of the session is public to the
 * plumbing, which keeps and audits everything in the latter: the handlers judge the session themselves.
 */
export function belongingRoutes(deps: BelongingRouteDependencies) {
  return [
    route({
      method: "GET",
      path: "/api/v1/me/organizations",
      tag: "Account",
      summary: "The organisations of the caller; a token sees its own only",
      access: { role: "viewer", scope: "account:read" },
      responses: { 200: { description: "The one joined first first", schema: Type.Array(OwnOrganization) } },
      handler: async ({ principal }) => ({
        status: 200,
        body: await listOwnOrganizations(deps.sql, principal),
      }),
    }),
    route({
      method: "POST",
      path: "/api/v1/auth/accept-invite",
      tag: "Authentication",
      summary: "Join an organisation by an invite to the email of the session's person",
      access: "public",
      audit: "ACCEPT_INVITE",
      body: { kind: "json", schema: AcceptInviteBody, maxBytes: MEMBERSHIP_BODY_MAX_BYTES },
      responses: { 200: { description: "What the person is now, and where", schema: Belonging } },
      errors: ["UNAUTHENTICATED", "INVITE_INVALID", "CONFLICT"],
      handler: async (context, { body }) => ({
        status: 200,
        body: await acceptInvite(deps, context, body.token),
      }),
    }),
    route({
      method: "POST",
      path: "/api/v1/auth/switch-organization",
      tag: "Authentication",
      summary: "Go on in another of one's organisations, with a new session in place of this one",
      access: "public",
      audit: "SWITCH_ORGANIZATION",
      body: { kind: "json", schema: SwitchOrganizationBody, maxBytes: MEMBERSHIP_BODY_MAX_BYTES },
      responses: { 200: { description: "The account; the session is in the cookie.", schema: Account } },
      errors: ["UNAUTHENTICATED", "SSO_REQUIRED", "NOT_FOUND"],
      handler: async (context, { body }) => {
        const { account, sessionToken } = await switchOrganization(deps, context, body.organizationId);
        return {
          status: 200,
          body: account,
          headers: { "set-cookie": sessionCookie(sessionToken, deps.cookie) },
        };
      },
    }),
  ];
}

import { Type } from "typebox";
import { route } from "../../../http/define-route.ts";
import { SIGN_IN_IDLE_TIMEOUT_SEC } from "../limits.ts";
import {
  checkConnection,
  describeConnection,
  findVerifiedRecord,
  removeConnection,
  type SsoConnectionDependencies,
  setConnection,
  verifyDomain,
} from "./connection-service.ts";
import { SSO_BODY_MAX_BYTES } from "./limits.ts";
import { PutSsoBody, SsoConnection, SsoDomain } from "./types.ts";

const DomainParams = Type.Object({ domain: Type.String({ minLength: 3, maxLength: 255 }) });
const read = { role: "admin", scope: "account:read" } as const;
const write = { role: "admin", scope: "account:write" } as const;

/** The identity provider of an organisation, as its admins set it up. */
export function ssoConnectionRoutes(deps: SsoConnectionDependencies) {
  return [
    route({
      method: "GET",
      path: "/api/v1/me/sso",
      tag: "Account",
      summary: "The organisation's own identity provider",
      access: read,
      responses: { 200: { description: "The connection, without its secret", schema: SsoConnection } },
      errors: ["NOT_FOUND"],
      handler: async ({ principal }) => ({
        status: 200,
        body: await describeConnection(deps, principal.organizationId),
      }),
    }),
    route({
      method: "PUT",
      path: "/api/v1/me/sso",
      tag: "Account",
      summary: "Set the organisation's own identity provider; what is absent takes its default",
      access: write,
      audit: "UPDATE_SSO",
      body: { kind: "json", schema: PutSsoBody, maxBytes: SSO_BODY_MAX_BYTES },
      idleTimeoutSec: SIGN_IN_IDLE_TIMEOUT_SEC,
      responses: { 200: { description: "The connection as it is now", schema: SsoConnection } },
      errors: ["CONFLICT", "PROVIDER_UNAVAILABLE"],
      handler: async ({ change }, { body }) => {
        // The provider is asked outside of the transaction, which must not wait for somebody else's server.
        await checkConnection(deps, body);
        return change(async (made) => ({ status: 200, body: await setConnection(made, deps, body) }));
      },
    }),
    route({
      method: "DELETE",
      path: "/api/v1/me/sso",
      tag: "Account",
      summary: "Remove the organisation's own identity provider and the sessions it has vouched for",
      access: write,
      audit: "DELETE_SSO",
      responses: { 204: { description: "Removed" } },
      errors: ["NOT_FOUND"],
      handler: ({ change }) =>
        change(async (made) => {
          await removeConnection(made, deps);
          return { status: 204 };
        }),
    }),
    route({
      method: "POST",
      path: "/api/v1/me/sso/domains/:domain/verify",
      tag: "Account",
      summary: "Look for the DNS record that shows that a domain is the organisation's",
      access: write,
      audit: "VERIFY_SSO_DOMAIN",
      params: DomainParams,
      responses: { 200: { description: "Verified", schema: SsoDomain } },
      errors: ["DOMAIN_NOT_VERIFIED"],
      handler: async ({ change, principal }, { params }) => {
        const found = await findVerifiedRecord(deps, principal.organizationId, params.domain);
        return change(async (made) => ({ status: 200, body: await verifyDomain(made, found) }));
      },
    }),
  ];
}

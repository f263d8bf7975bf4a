import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { CREDENTIALS_BODY_MAX_BYTES } from "../limits.ts";
import { requirePersonalSession } from "../providers/sso/sso-sessions.ts";
import { ownSessionHash } from "../session-cookie.ts";
import { MfaDisableBody, MfaEnrolment, MfaVerifyBody } from "../types.ts";
import {
  disable,
  enable,
  enrol,
  type MfaDependencies,
  mintFactor,
  proveDisabling,
  proveFirstCode,
} from "./mfa-service.ts";

const FACTOR_OF_A_PERSON = {
  reachesFurther: "a second factor belongs to the person, and so do the sessions in other organisations",
};
const ACCESS = { role: "viewer", scope: "account:write" } as const;
const Nothing = Type.Object({}, { $id: "Nothing", additionalProperties: false });
const MfaState = Type.Object({ mfaEnabled: Type.Boolean({ examples: [true] }) }, { $id: "MfaState" });

/**
 * One-time codes as the second factor of a password. They take a session that speaks for the person: a leaked token, or
 * an organisation that vouches for its members, must not lock anybody out of their account.
 */
export function mfaRoutes(deps: MfaDependencies) {
  return [
    route({
      method: "POST",
      path: "/api/v1/auth/mfa/enroll",
      tag: "Authentication",
      summary: "Begin to use one-time codes; they are asked for once the first one was verified",
      access: ACCESS,
      audit: "ENROLL_MFA",
      body: { kind: "json", schema: Nothing, maxBytes: CREDENTIALS_BODY_MAX_BYTES, optional: true },
      responses: {
        200: { description: "The secret and the recovery codes, shown this once.", schema: MfaEnrolment },
      },
      errors: ["CONFLICT"],
      handler: async (context) => {
        await requirePersonalSession(deps.sql, context.principal);
        const minted = await mintFactor(deps, context);
        return context.change(
          async (made) => ({ status: 200, body: await enrol(made, deps, minted) }),
          FACTOR_OF_A_PERSON,
        );
      },
    }),
    route({
      method: "POST",
      path: "/api/v1/auth/mfa/verify",
      tag: "Authentication",
      summary: "Enable one-time codes with the first one; ends the other sessions",
      access: ACCESS,
      audit: "ENABLE_MFA",
      body: { kind: "json", schema: MfaVerifyBody, maxBytes: CREDENTIALS_BODY_MAX_BYTES },
      responses: { 200: { description: "Logging in asks for a code from now on.", schema: MfaState } },
      errors: ["CONFLICT", "INVALID_CREDENTIALS"],
      handler: async (context, { body }) => {
        await requirePersonalSession(deps.sql, context.principal);
        const first = await proveFirstCode(deps, context, body.code);
        return context.change(async (made) => {
          await enable(made, deps, ownSessionHash(context), first);
          return { status: 200, body: { mfaEnabled: true } };
        }, FACTOR_OF_A_PERSON);
      },
    }),
    route({
      method: "POST",
      path: "/api/v1/auth/mfa/disable",
      tag: "Authentication",
      summary: "Stop using one-time codes, with the password or a code; ends the other sessions",
      access: ACCESS,
      audit: "DISABLE_MFA",
      body: {
        kind: "json",
        schema: MfaDisableBody,
        maxBytes: CREDENTIALS_BODY_MAX_BYTES,
        optional: true,
      },
      responses: { 200: { description: "Logging in asks for no code from now on.", schema: MfaState } },
      errors: ["CONFLICT", "INVALID_CREDENTIALS"],
      handler: async (context, { body }) => {
        await requirePersonalSession(deps.sql, context.principal);
        const proof = await proveDisabling(deps, context, body);
        return context.change(async (made) => {
          await disable(made, deps, ownSessionHash(context), proof);
          return { status: 200, body: { mfaEnabled: false } };
        }, FACTOR_OF_A_PERSON);
      },
    }),
  ];
}

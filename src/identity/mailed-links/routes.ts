import { Type } from "typebox";
import { requireEmail } from "../../access/email-address.ts";
import { route } from "../../http/define-route.ts";
import { wantsPage } from "../../http/page.ts";
import type { RequestContext } from "../../http/route.ts";
import { CREDENTIALS_BODY_MAX_BYTES } from "../limits.ts";
import { throttledAttempt } from "../login-attempt.ts";
import { linkRequestSubjects } from "../throttle-subjects.ts";
import { ForgotPasswordBody, ResetPasswordBody } from "../types.ts";
import { type EmailVerificationDependencies, verifyEmail } from "./email-verification.ts";
import type { LinkIssuer } from "./link-issuer.ts";
import type { LinkPurpose } from "./link-store.ts";
import { messagePage, resetPageRoutes } from "./pages.ts";
import { type PasswordResetDependencies, resetPassword } from "./password-reset.ts";

/** Characters of a User-Agent header that are kept until the request is done. */
const USER_AGENT_MAX_CHARS = 512;

const Accepted = Type.Object(
  { message: Type.String({ description: "For people.", examples: ["The email address is confirmed."] }) },
  { $id: "Message" },
);
const Page = Type.String({ description: "A page that says the same, for browsers." });

export interface MailedLinkRouteDependencies
  extends PasswordResetDependencies,
    EmailVerificationDependencies {
  readonly links: LinkIssuer;
}

/** What people do with links that they are mailed: choosing a new password and confirming their address. */
export function mailedLinkRoutes(deps: MailedLinkRouteDependencies) {
  return [
    route({
      method: "POST",
      path: "/api/v1/auth/forgot-password",
      tag: "Authentication",
      summary: "Be mailed a link to choose a new password",
      access: "public",
      audit: "REQUEST_PASSWORD_RESET",
      body: { kind: "json", schema: ForgotPasswordBody, maxBytes: CREDENTIALS_BODY_MAX_BYTES },
      responses: { 202: { description: "The same for every address.", schema: Accepted } },
      handler: async (context, { body }) => {
        await requestLink(deps, context, "reset-password", body.email);
        return accepted("If this address has an account, a link to choose a new password is on its way.");
      },
    }),
    route({
      method: "POST",
      path: "/api/v1/auth/reset-password",
      tag: "Authentication",
      summary: "Choose a new password with a mailed link; ends all sessions and begins none",
      access: "public",
      audit: "RESET_PASSWORD",
      body: { kind: "json", schema: ResetPasswordBody, maxBytes: CREDENTIALS_BODY_MAX_BYTES },
      responses: { 200: { description: "The new password works from now on.", schema: Accepted } },
      errors: ["LINK_INVALID"],
      handler: async (context, { body }) => {
        await resetPassword(deps, context, body);
        return { status: 200, body: { message: "The password was changed; log in with it." } };
      },
    }),
    route({
      method: "GET",
      path: "/api/v1/auth/verify-email",
      tag: "Authentication",
      summary: "Confirm an address with a mailed link",
      access: "public",
      audit: "VERIFY_EMAIL",
      query: Type.Object({ token: Type.String({ minLength: 20, maxLength: 200 }) }),
      responses: {
        200: {
          description: "The address is confirmed.",
          schema: Accepted,
          alternatives: { "text/html": Page },
        },
      },
      errors: ["LINK_INVALID"],
      handler: async (context, { query }) => {
        await verifyEmail(deps, context, query.token);
        const message = "The email address is confirmed.";
        return wantsPage(context.request) ? messagePage(message) : { status: 200, body: { message } };
      },
    }),
    route({
      method: "POST",
      path: "/api/v1/auth/resend-verification",
      tag: "Authentication",
      summary: "Be mailed a link that confirms an address",
      access: "public",
      audit: "REQUEST_EMAIL_VERIFICATION",
      body: { kind: "json", schema: ForgotPasswordBody, maxBytes: CREDENTIALS_BODY_MAX_BYTES },
      responses: { 202: { description: "The same for every address.", schema: Accepted } },
      handler: async (context, { body }) => {
        await requestLink(deps, context, "verify-email", body.email);
        return accepted("If this address has an account to confirm, a link is on its way.");
      },
    }),
    ...resetPageRoutes(),
  ];
}

function accepted(message: string) {
  return { status: 202, body: { message } };
}

/** Does the same work for every address, and counts every request, for each may be a mail to somebody else. */
async function requestLink(
  { links, throttle, now }: MailedLinkRouteDependencies,
  { clientAddress, log, request }: RequestContext,
  purpose: LinkPurpose,
  typedEmail: string,
): Promise<void> {
  const email = requireEmail(typedEmail);
  const userAgent = request.headers.get("user-agent")?.slice(0, USER_AGENT_MAX_CHARS).toWellFormed() ?? null;
  const subjects = linkRequestSubjects(purpose, email, clientAddress);
  await throttledAttempt(throttle, subjects, log, async () => {
    await links.request({ purpose, email, ip: clientAddress, userAgent, requestedAtMs: now() });
    return null;
  });
}

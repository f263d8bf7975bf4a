import { Type } from "typebox";
import type { Role } from "../../../src/access/principal.ts";
import { inviteMailer } from "../../../src/domains/organizations/invite-mail.ts";
import { organizationRoutes } from "../../../src/domains/organizations/routes.ts";
import { MintedInvite } from "../../../src/domains/organizations/types.ts";
import { Account, Member } from "../../../src/membership/types.ts";
import type { MailMessage } from "../../../src/notify/mail/message.ts";
import { outbox } from "../../../src/notify/mail/outbox.ts";
import { TEST_ORIGIN } from "../../harness/http-app.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import type { TestStores } from "../../harness/stores.ts";
import {
  bodyOf,
  cookieOf,
  freshEmail,
  type IdentityServer,
  type IdentityServerOptions,
  identityServer,
  PASSWORD,
  type Person,
  withCookie,
} from "../../identity/identity-server.ts";

export const MEMBERS = "/api/v1/me/members";
export const INVITES = "/api/v1/me/invites";
export const REGISTER = "/api/v1/auth/register";

/** One instance of the server as far as people and their organisations go. */
export interface OrganizationServer extends IdentityServer {
  /** What was put into the outbox, and until when it is of use. */
  readonly mails: { message: MailMessage; expiresAtMs: number }[];
  /** Sends a request as a page of our own, with the session of a person. */
  readonly as: (cookie: string, method: string, path: string, json?: unknown) => Promise<Response>;
  readonly invite: (cookie: string, email: string, role: Role) => Promise<MintedInvite>;
  /** Registers a new person as a member of somebody's organisation. */
  readonly recruit: (cookie: string, role: Role) => Promise<Person>;
  readonly membersOf: (cookie: string) => Promise<Member[]>;
}

export function organizationServer(
  stores: TestStores,
  options: IdentityServerOptions = {},
): OrganizationServer {
  const mails: OrganizationServer["mails"] = [];
  const server = identityServer(stores, {
    ...options,
    moreRoutes: (parts) => [
      ...(options.moreRoutes?.(parts) ?? []),
      ...organizationRoutes({
        ...parts,
        box: TEST_BOX,
        mailInvite: inviteMailer({
          publicUrl: TEST_ORIGIN,
          enqueueMail: async (tx, message, expiresAtMs) => {
            mails.push({ message, expiresAtMs });
            await outbox({ box: TEST_BOX, now: parts.now })(tx, message, expiresAtMs);
          },
        }),
      }),
    ],
  });
  const as: OrganizationServer["as"] = (cookie, method, path, json) =>
    server.send(method, path, { headers: withCookie(cookie), ...(json !== undefined && { json }) });
  const invite: OrganizationServer["invite"] = async (cookie, email, role) =>
    bodyOf(await as(cookie, "POST", INVITES, { email, role }), MintedInvite);
  return {
    ...server,
    mails,
    as,
    invite,
    recruit: async (cookie, role) => {
      const email = freshEmail();
      const { token } = await invite(cookie, email, role);
      const json = { email, password: PASSWORD, inviteToken: token };
      const response = await server.send("POST", REGISTER, { json });
      return { email, account: await bodyOf(response, Account), cookie: cookieOf(response) };
    },
    membersOf: async (cookie) => bodyOf(await as(cookie, "GET", MEMBERS), Type.Array(Member)),
  };
}

/** What the audit log of an organisation says, oldest first. */
export async function auditOf(
  stores: TestStores,
  organizationId: number,
): Promise<{ action: string; resource: string; actor: string; meta: Record<string, unknown> }[]> {
  return stores.postgres<
    { action: string; resource: string; actor: string; meta: Record<string, unknown> }[]
  >`
    SELECT action, resource, actor_email AS actor, meta FROM audit_log
    WHERE organization_id = ${organizationId} ORDER BY seq`;
}

import type { Sql } from "postgres";
import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { MEMBERSHIP_BODY_MAX_BYTES } from "../../membership/limits.ts";
import type { MailInvite } from "./invite-mail.ts";
import { createInvite, listOpenInvites, removeInvite } from "./invite-service.ts";
import { CreateInviteBody, Invite, MintedInvite } from "./types.ts";

const IdParams = Type.Object({ id: Type.String({ pattern: "^[1-9][0-9]{0,14}$" }) });

export interface InviteRouteDependencies {
  readonly sql: Sql;
  readonly mailInvite: MailInvite;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Inviting people into the organisation. */
export function inviteRoutes({ sql, mailInvite, now }: InviteRouteDependencies) {
  return [
    route({
      method: "GET",
      path: "/api/v1/me/invites",
      tag: "Organisation",
      summary: "List the open invites",
      access: { role: "admin", scope: "account:read" },
      responses: {
        200: { description: "Those that can still be accepted, oldest first", schema: Type.Array(Invite) },
      },
      errors: ["UNAVAILABLE"],
      handler: async ({ principal }) => ({
        status: 200,
        body: await listOpenInvites(sql, principal, now()),
      }),
    }),
    route({
      method: "POST",
      path: "/api/v1/me/invites",
      tag: "Organisation",
      summary: "Invite somebody by email, to at most one's own role",
      access: { role: "admin", scope: "account:write" },
      audit: "CREATE_INVITE",
      body: { kind: "json", schema: CreateInviteBody, maxBytes: MEMBERSHIP_BODY_MAX_BYTES },
      responses: {
        201: { description: "The invite with its token, shown this once", schema: MintedInvite },
      },
      errors: ["FORBIDDEN", "CONFLICT", "RATE_LIMITED", "UNAVAILABLE"],
      handler: ({ change }, { body }) =>
        change(async (made) => ({ status: 201, body: await createInvite(made, mailInvite, body) })),
    }),
    route({
      method: "DELETE",
      path: "/api/v1/me/invites/:id",
      tag: "Organisation",
      summary: "Take an invite back; its token is refused from then on",
      access: { role: "admin", scope: "account:write" },
      audit: "DELETE_INVITE",
      params: IdParams,
      responses: { 204: { description: "Taken back" } },
      errors: ["NOT_FOUND", "UNAVAILABLE"],
      handler: ({ change }, { params }) =>
        change(async (made) => {
          await removeInvite(made, Number(params.id));
          return { status: 204 };
        }),
    }),
  ];
}

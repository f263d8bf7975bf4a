import type { Sql } from "postgres";
import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import type { Authenticator } from "../../identity/authenticator.ts";
import { clearedSessionCookie, type SessionCookieOptions } from "../../identity/session-cookie.ts";
import { MEMBERSHIP_BODY_MAX_BYTES } from "../../membership/limits.ts";
import { Member } from "../../membership/types.ts";
import { changeRole, listOrganizationMembers, removeMember } from "./member-service.ts";
import { UpdateMemberBody } from "./types.ts";

const UserIdParams = Type.Object({ userId: Type.String({ pattern: "^[1-9][0-9]{0,14}$" }) });

interface MemberRouteDependencies {
  readonly sql: Sql;
  readonly authenticator: Pick<Authenticator, "forget">;
  readonly cookie: SessionCookieOptions;
}

/** Who belongs to an organisation, and as what. */
export function memberRoutes({ sql, authenticator, cookie }: MemberRouteDependencies) {
  return [
    route({
      method: "GET",
      path: "/api/v1/me/members",
      tag: "Organisation",
      summary: "List the members of the organisation",
      access: { role: "viewer", scope: "account:read" },
      responses: { 200: { description: "The longest a member first", schema: Type.Array(Member) } },
      handler: async ({ principal }) => ({
        status: 200,
        body: await listOrganizationMembers(sql, principal),
      }),
    }),
    route({
      method: "PATCH",
      path: "/api/v1/me/members/:userId",
      tag: "Organisation",
      summary: "Give a member another role; the sole owner keeps theirs",
      access: { role: "owner", scope: "account:write" },
      audit: "UPDATE_MEMBER",
      params: UserIdParams,
      body: { kind: "json", schema: UpdateMemberBody, maxBytes: MEMBERSHIP_BODY_MAX_BYTES },
      responses: { 200: { description: "The member as it is now", schema: Member } },
      errors: ["CONFLICT"],
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({
          status: 200,
          body: await changeRole(made, authenticator, Number(params.userId), body.role),
        })),
    }),
    route({
      method: "DELETE",
      path: "/api/v1/me/members/:userId",
      tag: "Organisation",
      summary:
        "Remove a member, whose sessions and tokens end at once: admins anybody but owners, owners anybody, everybody themselves",
      access: { role: "viewer", scope: "account:write" },
      audit: "REMOVE_MEMBER",
      params: UserIdParams,
      responses: { 204: { description: "Removed" } },
      errors: ["CONFLICT"],
      handler: ({ change, principal }, { params }) =>
        change(async (made) => {
          const userId = Number(params.userId);
          await removeMember(made, authenticator, userId);
          const endsOwnSession = principal.kind === "session" && principal.userId === userId;
          return {
            status: 204,
            ...(endsOwnSession && { headers: { "set-cookie": clearedSessionCookie(cookie) } }),
          };
        }),
    }),
  ];
}

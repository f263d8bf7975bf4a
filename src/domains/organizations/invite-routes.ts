import type { Sql } from "postgres";
import { BY_ID, resource } from "../../http/resource.ts";
import { MEMBERSHIP_BODY_MAX_BYTES } from "../../membership/limits.ts";
import { Invite } from "../../membership/types.ts";
import type { MailInvite } from "./invite-mail.ts";
import { createInvite, listOpenInvites, removeInvite } from "./invite-service.ts";
import { CreateInviteBody, MintedInvite } from "./types.ts";

export interface InviteRouteDependencies {
  readonly sql: Sql;
  readonly mailInvite: MailInvite;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Inviting people into the organisation. */
export function inviteRoutes({ sql, mailInvite, now }: InviteRouteDependencies) {
  const invites = resource({
    path: "/api/v1/me/invites",
    tag: "Organisation",
    one: "an invite",
    many: "open invites",
    by: BY_ID,
    record: Invite,
    read: { role: "admin", scope: "account:read" },
    write: { role: "admin", scope: "account:write" },
    audit: "INVITE",
  });
  return [
    invites.list("Oldest first", (principal) => listOpenInvites(sql, principal, now())),
    invites.create(CreateInviteBody, MintedInvite, (change, body) => createInvite(change, mailInvite, body), {
      maxBytes: MEMBERSHIP_BODY_MAX_BYTES,
    }),
    invites.remove(removeInvite),
  ];
}

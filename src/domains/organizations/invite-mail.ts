import type { TransactionSql } from "postgres";
import type { Invite, Organization } from "../../membership/types.ts";
import type { EnqueueMail } from "../../notify/mail/outbox.ts";
import { invitationMail } from "../../notify/mail/templates.ts";

/** What a mail that invites somebody says. */
interface InviteMail {
  readonly invite: Invite;
  /** What lets its reader in. */
  readonly token: string;
  readonly organization: Organization;
  /** The email of the person who invites. */
  readonly invitedBy: string;
}

/** Sends an invite, if and when the transaction is kept. */
export type MailInvite = (tx: TransactionSql, mail: InviteMail) => Promise<void>;

/** Mails invites as a link to this server, for as long as they can be accepted. */
export function inviteMailer({
  enqueueMail,
  publicUrl,
}: {
  enqueueMail: EnqueueMail;
  publicUrl: string;
}): MailInvite {
  return (tx, { invite, token, organization, invitedBy }) => {
    // Behind `#`, so that it is in no log of a server or proxy on the way.
    const link = `${publicUrl}/accept-invite#token=${token}`;
    const message = invitationMail(invite.email, {
      organization: organization.name,
      invitedBy,
      role: invite.role,
      link,
    });
    return enqueueMail(tx, message, Date.parse(invite.expiresAt));
  };
}

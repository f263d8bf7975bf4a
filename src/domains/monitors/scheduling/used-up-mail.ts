import type { Change } from "../../../changes/change.ts";
import type { EnqueueMail } from "../../../notify/mail/outbox.ts";
import { checksUsedUpMail } from "../../../notify/mail/templates.ts";

/** Owners of one organisation that are told; some tell the others. */
const OWNERS_TOLD_MAX = 20;
/** Afterwards another month has begun, or it is old news. */
const MAIL_USEFUL_MS = 3 * 86_400_000;

/** Tells the owners of an organisation by mail that the checks of the month are used up. */
export function usedUpMailer({
  enqueueMail,
  publicUrl,
}: {
  readonly enqueueMail: EnqueueMail;
  readonly publicUrl: string;
}): (change: Change, limit: number) => Promise<void> {
  return async ({ tx, organizationId, nowMs }, limit) => {
    const owners = await tx<{ email: string; organization: string }[]>`
      SELECT u.email, o.name AS organization
      FROM memberships m JOIN users u ON u.id = m.user_id JOIN organizations o ON o.id = m.organization_id
      WHERE m.organization_id = ${organizationId} AND m.role = 'owner' ORDER BY u.id LIMIT ${OWNERS_TOLD_MAX}`;
    for (const { email, organization } of owners)
      await enqueueMail(
        tx,
        checksUsedUpMail(email, { organization, limit, publicUrl }),
        nowMs + MAIL_USEFUL_MS,
      );
  };
}

import type { TransactionSql } from "postgres";
import { Value } from "typebox/value";
import type { SecretBox } from "../access/secret-box.ts";
import type { Logger } from "../log.ts";
import { Target } from "./channels/target.ts";

/**
 * How a person is reached: by the mail of their account, and however they have proved to be reached besides. What cannot be
 * opened any more, as after a change of the key, is logged and left out: the person is reached by the rest.
 */
export async function personTargets(
  tx: TransactionSql,
  box: SecretBox,
  organizationId: number,
  { userId, address }: { readonly userId: number; readonly address: string },
  log: Logger,
): Promise<Target[]> {
  const rows = await tx<{ id: string; sealed: Uint8Array }[]>`
    SELECT id, sealed FROM contact_methods
    WHERE organization_id = ${organizationId} AND user_id = ${userId} AND verified_at IS NOT NULL ORDER BY id`;
  const proved = rows.flatMap(({ id, sealed }) => {
    try {
      return [openContact(box, userId, sealed)];
    } catch (error) {
      log.error({ err: error, contactMethod: Number(id) }, "a contact method cannot be opened");
      return [];
    }
  });
  return [{ channel: "email", address }, ...proved];
}

/** The mail of every owner. */
export async function ownerTargets(tx: TransactionSql, organizationId: number): Promise<Target[]> {
  const rows = await tx<{ email: string }[]>`
    SELECT u.email FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.organization_id = ${organizationId} AND m.role = 'owner' ORDER BY m.user_id`;
  return rows.map(({ email }) => ({ channel: "email", address: email }));
}

/** Seals how a person is reached; it opens for nobody else. */
export function sealContact(box: SecretBox, userId: number, target: Target): Buffer {
  return box.seal(JSON.stringify(target), purposeOf(userId));
}

/** Throws an Error for what was not sealed for this person. */
export function openContact(box: SecretBox, userId: number, sealed: Uint8Array): Target {
  const target: unknown = JSON.parse(box.open(sealed, purposeOf(userId)));
  if (!Value.Check(Target, target)) throw new Error("a sealed contact method has an unknown form");
  return target;
}

function purposeOf(userId: number): string {
  return `contact-method:${userId}`;
}

import type { TransactionSql } from "postgres";
import type { SecretBox } from "../access/secret-box.ts";
import type { Change } from "../changes/change.ts";
import { ApiError } from "../errors.ts";
import { lockOrganization } from "../storage/organization-transaction.ts";
import { REPLACED_SECRET_LIFE_MS, REPLACED_SECRETS_MAX } from "./limits.ts";
import type { WebhookSecret } from "./types.ts";
import {
  insertPresentSecret,
  listSigningSecrets,
  retirePresentSecret,
  type StoredSecret,
} from "./webhook-secret-store.ts";
import { mintWebhookSecret } from "./webhook-signature.ts";

/**
 * What the webhooks of an organisation are signed with at this moment, for `signWebhook`: the present secret first,
 * then those it replaced less than a day ago. The first time somebody asks, a secret is made.
 */
export async function signingSecrets(
  tx: TransactionSql,
  box: SecretBox,
  organizationId: number,
  nowMs: number,
): Promise<string[]> {
  const stored = await ensureSecrets(tx, box, organizationId, nowMs);
  return stored.map(({ sealed }) => box.open(sealed, purposeOf(organizationId)));
}

/** Shows the present secret, which is written down. */
export async function readWebhookSecret(change: Change, box: SecretBox): Promise<WebhookSecret> {
  const { tx, organizationId, nowMs } = change;
  const stored = await ensureSecrets(tx, box, organizationId, nowMs);
  change.record({ resource: `webhook-secret:${presentOf(stored).id}` });
  return shown(stored, box, organizationId);
}

/** Replaces the present secret, which goes on for a day. Throws CONFLICT when as many as may are going on already. */
export async function rotateWebhookSecret(change: Change, box: SecretBox): Promise<WebhookSecret> {
  const { tx, organizationId, nowMs } = change;
  await lockOrganization(tx, organizationId);
  const before = await ensureSecrets(tx, box, organizationId, nowMs);
  if (before.length > REPLACED_SECRETS_MAX)
    throw new ApiError(
      "CONFLICT",
      `${REPLACED_SECRETS_MAX} replaced secrets are still good; wait for one to end.`,
    );
  await retirePresentSecret(tx, organizationId, { nowMs, expiresAtMs: nowMs + REPLACED_SECRET_LIFE_MS });
  const stored = await ensureSecrets(tx, box, organizationId, nowMs);
  change.record({
    resource: `webhook-secret:${presentOf(stored).id}`,
    facts: { replaced: presentOf(before).id },
  });
  return shown(stored, box, organizationId);
}

/** The secrets that sign now; makes the present one where there is none. */
async function ensureSecrets(
  tx: TransactionSql,
  box: SecretBox,
  organizationId: number,
  nowMs: number,
): Promise<StoredSecret[]> {
  const stored = await listSigningSecrets(tx, organizationId, nowMs);
  if (stored[0]?.expiresAtMs === null) return stored;
  await insertPresentSecret(
    tx,
    organizationId,
    box.seal(mintWebhookSecret(), purposeOf(organizationId)),
    nowMs,
  );
  return listSigningSecrets(tx, organizationId, nowMs);
}

function shown(stored: readonly StoredSecret[], box: SecretBox, organizationId: number): WebhookSecret {
  const present = presentOf(stored);
  const previousEndMs = stored[1]?.expiresAtMs ?? null;
  return {
    secret: box.open(present.sealed, purposeOf(organizationId)),
    createdAt: new Date(present.createdAtMs).toISOString(),
    previousValidUntil: previousEndMs === null ? null : new Date(previousEndMs).toISOString(),
  };
}

function presentOf([present]: readonly StoredSecret[]): StoredSecret {
  if (present?.expiresAtMs !== null) throw new Error("an organisation has no webhook secret");
  return present;
}

/** Sealed for one organisation: in the row of another one it does not open. */
function purposeOf(organizationId: number): string {
  return `webhook-secret:${organizationId}`;
}

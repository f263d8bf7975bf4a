import type { TransactionSql } from "postgres";

/** The queries about the settings of deployment drains; the organisation comes first in each. */

export interface DrainSettingsRow {
  readonly sealedSecret: Uint8Array | null;
  readonly verificationCode: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export async function findDrainSettings(
  tx: TransactionSql,
  organizationId: number,
): Promise<DrainSettingsRow | null> {
  const [row] = await tx<
    {
      signing_secret: Uint8Array | null;
      verification_code: string | null;
      created_at: Date;
      updated_at: Date;
    }[]
  >`
    SELECT signing_secret, verification_code, created_at, updated_at FROM deployment_drain_settings
    WHERE organization_id = ${organizationId}`;
  if (row === undefined) return null;
  return {
    sealedSecret: row.signing_secret,
    verificationCode: row.verification_code,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
  };
}

export async function putDrainSettings(
  tx: TransactionSql,
  organizationId: number,
  settings: { readonly sealedSecret: Uint8Array | null; readonly verificationCode: string | null },
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs);
  await tx`
    INSERT INTO deployment_drain_settings
      (organization_id, signing_secret, verification_code, created_at, updated_at)
    VALUES (${organizationId}, ${settings.sealedSecret}, ${settings.verificationCode}, ${now}, ${now})
    ON CONFLICT (organization_id) DO UPDATE SET
      signing_secret = excluded.signing_secret,
      verification_code = excluded.verification_code,
      updated_at = excluded.updated_at`;
}

export async function deleteDrainSettings(tx: TransactionSql, organizationId: number): Promise<void> {
  await tx`DELETE FROM deployment_drain_settings WHERE organization_id = ${organizationId}`;
}

import type { ISql, TransactionSql } from "postgres";

/** The queries about second factors. They belong to people, not to organisations. */

export interface TotpFactor {
  /** Encrypted. */
  readonly secret: Uint8Array;
  readonly isEnabled: boolean;
  /** Of the last code that was accepted. */
  readonly lastStep: number;
}

export interface HashedRecoveryCode {
  readonly slot: string;
  readonly codeHash: string;
}

interface FactorRow {
  secret: Uint8Array;
  enabled_at: Date | null;
  last_step: string;
}

/** A person's factor; null when they have begun none. */
export async function findFactor(sql: ISql, userId: number): Promise<TotpFactor | null> {
  const [row] = await sql<FactorRow[]>`
    SELECT secret, enabled_at, last_step FROM totp_factors WHERE user_id = ${userId}`;
  if (row === undefined) return null;
  return { secret: row.secret, isEnabled: row.enabled_at !== null, lastStep: Number(row.last_step) };
}

/** Locks the person, so that what changes how they sign in happens one after the other. */
export async function lockPerson(tx: TransactionSql, userId: number): Promise<void> {
  await tx`SELECT 1 FROM users WHERE id = ${userId} FOR NO KEY UPDATE`;
}

/** Begins a factor in place of another one that was begun; false when one is enabled. */
export async function beginFactor(
  tx: TransactionSql,
  userId: number,
  input: { secret: Uint8Array; createdAtMs: number; codes: readonly HashedRecoveryCode[] },
): Promise<boolean> {
  await tx`DELETE FROM totp_factors WHERE user_id = ${userId} AND enabled_at IS NULL`;
  const begun = await tx`
    INSERT INTO totp_factors (user_id, secret, created_at)
    VALUES (${userId}, ${input.secret}, ${new Date(input.createdAtMs)})
    ON CONFLICT DO NOTHING RETURNING 1`;
  if (begun.length === 0) return false;
  const rows = input.codes.map(({ slot, codeHash }) => ({ user_id: userId, slot, code_hash: codeHash }));
  await tx`INSERT INTO recovery_codes ${tx(rows)}`;
  return true;
}

/** Enables the factor with this secret at the step of its first code; false when it is enabled or another one by now. */
export async function enableFactor(
  tx: TransactionSql,
  userId: number,
  { secret, step, nowMs }: { secret: Uint8Array; step: number; nowMs: number },
): Promise<boolean> {
  const enabled = await tx`
    UPDATE totp_factors SET enabled_at = ${new Date(nowMs)}, last_step = ${step}
    WHERE user_id = ${userId} AND secret = ${secret} AND enabled_at IS NULL
    RETURNING 1`;
  return enabled.length > 0;
}

/** Removes a person's factor with its recovery codes; whether it was enabled, or null when there was none. */
export async function removeFactor(
  tx: TransactionSql,
  userId: number,
): Promise<{ wasEnabled: boolean } | null> {
  const [row] = await tx<{ was_enabled: boolean }[]>`
    DELETE FROM totp_factors WHERE user_id = ${userId} RETURNING enabled_at IS NOT NULL AS was_enabled`;
  return row === undefined ? null : { wasEnabled: row.was_enabled };
}

/** Accepts the code of a step; false when it or a later one was accepted already. */
export async function acceptStep(tx: TransactionSql, userId: number, step: number): Promise<boolean> {
  const accepted = await tx`
    UPDATE totp_factors SET last_step = ${step}
    WHERE user_id = ${userId} AND enabled_at IS NOT NULL AND last_step < ${step}
    RETURNING 1`;
  return accepted.length > 0;
}

/** Counts an attempt at a code as failed; false when the person has failed `max` times on this day. */
export async function countFailure(
  sql: ISql,
  userId: number,
  { day, max }: { day: string; max: number },
): Promise<boolean> {
  const counted = await sql`
    UPDATE totp_factors
    SET failures = CASE WHEN failed_on = ${day}::date THEN failures + 1 ELSE 1 END, failed_on = ${day}::date
    WHERE user_id = ${userId} AND (failed_on IS DISTINCT FROM ${day}::date OR failures < ${max})
    RETURNING 1`;
  return counted.length > 0;
}

/** Begins the count anew: the person has shown a right code, or has another password, which the guesser does not know. */
export async function forgiveFailures(tx: TransactionSql, userId: number): Promise<void> {
  await tx`UPDATE totp_factors SET failures = 0 WHERE user_id = ${userId}`;
}

/** The hash of the code in a slot; null when it was used or never there. */
export async function findRecoveryCodeHash(sql: ISql, userId: number, slot: string): Promise<string | null> {
  const [row] = await sql<{ code_hash: string }[]>`
    SELECT code_hash FROM recovery_codes WHERE user_id = ${userId} AND slot = ${slot}`;
  return row?.code_hash ?? null;
}

/** Uses a code up; how many are left, or null when it was used meanwhile. */
export async function useRecoveryCode(
  tx: TransactionSql,
  userId: number,
  { slot, codeHash }: HashedRecoveryCode,
): Promise<number | null> {
  const used = await tx`
    DELETE FROM recovery_codes WHERE user_id = ${userId} AND slot = ${slot} AND code_hash = ${codeHash}
    RETURNING 1`;
  if (used.length === 0) return null;
  const [row] = await tx<{ codes_left: number }[]>`
    SELECT count(*)::integer AS codes_left FROM recovery_codes WHERE user_id = ${userId}`;
  return row?.codes_left ?? 0;
}

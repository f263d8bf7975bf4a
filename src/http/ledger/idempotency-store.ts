import type { Sql, TransactionSql } from "postgres";

/** Whose key it is, and which. */
export interface IdempotencyKey {
  readonly organizationId: number;
  /** `token:17`, or `user:5` for all sessions of a person. */
  readonly credential: string;
  /** SHA-256 of the key. */
  readonly keyHash: Uint8Array;
}

/** A key held by one execution of a request. */
export interface Claim extends IdempotencyKey {
  readonly attempt: string;
}

export type ClaimOutcome =
  | { readonly kind: "claimed"; readonly claim: Claim }
  | { readonly kind: "answered"; readonly sealedAnswer: Uint8Array }
  | { readonly kind: "in-progress"; readonly leasedUntilMs: number }
  | { readonly kind: "reused" };

/**
 * Takes a key for a request, if it is free: never used, forgotten by now, or held for the same request by an
 * execution whose lease is over.
 */
export async function claimKey(
  sql: Sql,
  key: IdempotencyKey,
  request: { fingerprint: Uint8Array; nowMs: number; leaseMs: number; keepMs: number },
): Promise<ClaimOutcome> {
  const attempt = crypto.randomUUID();
  const { organizationId, credential, keyHash } = key;
  const now = new Date(request.nowMs);
  const [taken] = await sql`
    INSERT INTO idempotency_keys AS held
      (organization_id, credential, key_hash, fingerprint, attempt, leased_until, expires_at)
    VALUES (${organizationId}, ${credential}, ${keyHash}, ${request.fingerprint}, ${attempt},
            ${new Date(request.nowMs + request.leaseMs)}, ${new Date(request.nowMs + request.keepMs)})
    ON CONFLICT (organization_id, credential, key_hash) DO UPDATE
    SET fingerprint = excluded.fingerprint, attempt = excluded.attempt, leased_until = excluded.leased_until,
        expires_at = excluded.expires_at, answer = NULL
    WHERE held.expires_at <= ${now}
       OR (held.answer IS NULL AND held.leased_until <= ${now} AND held.fingerprint = excluded.fingerprint)
    RETURNING 1`;
  if (taken !== undefined) return { kind: "claimed", claim: { ...key, attempt } };
  const [held] = await sql<{ fingerprint: Uint8Array; answer: Uint8Array | null; leased_until: Date }[]>`
    SELECT fingerprint, answer, leased_until FROM idempotency_keys
    WHERE organization_id = ${organizationId} AND credential = ${credential} AND key_hash = ${keyHash}`;
  // Released in between: whoever asks again gets it.
  if (held === undefined) return { kind: "in-progress", leasedUntilMs: request.nowMs };
  if (Buffer.compare(held.fingerprint, request.fingerprint) !== 0) return { kind: "reused" };
  if (held.answer !== null) return { kind: "answered", sealedAnswer: held.answer };
  return { kind: "in-progress", leasedUntilMs: held.leased_until.getTime() };
}

/** Keeps the answer of a claim. False when another execution has taken the key over meanwhile. */
export async function keepAnswer(
  sql: Sql | TransactionSql,
  { organizationId, credential, keyHash, attempt }: Claim,
  sealedAnswer: Uint8Array,
): Promise<boolean> {
  const { count } = await sql`
    UPDATE idempotency_keys SET answer = ${sealedAnswer}
    WHERE organization_id = ${organizationId} AND credential = ${credential} AND key_hash = ${keyHash}
      AND attempt = ${attempt} AND answer IS NULL`;
  return count === 1;
}

/** Says that the execution of a claim is still under way. */
export async function renewLease(sql: Sql, claim: Claim, leasedUntilMs: number): Promise<void> {
  const { organizationId, credential, keyHash, attempt } = claim;
  await sql`
    UPDATE idempotency_keys SET leased_until = ${new Date(leasedUntilMs)}
    WHERE organization_id = ${organizationId} AND credential = ${credential} AND key_hash = ${keyHash}
      AND attempt = ${attempt}`;
}

/** Gives a key back unanswered, so that a repetition is executed. */
export async function releaseKey(sql: Sql, claim: Claim): Promise<void> {
  const { organizationId, credential, keyHash, attempt } = claim;
  await sql`
    DELETE FROM idempotency_keys
    WHERE organization_id = ${organizationId} AND credential = ${credential} AND key_hash = ${keyHash}
      AND attempt = ${attempt} AND answer IS NULL`;
}

/** Forgets keys whose time is over, at most `limit` of them, and answers how many. */
export async function forgetExpiredKeys(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const { count } = await sql`
    DELETE FROM idempotency_keys
    WHERE (organization_id, credential, key_hash) IN (
      SELECT organization_id, credential, key_hash FROM idempotency_keys
      WHERE expires_at <= ${new Date(nowMs)} LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )`;
  return count;
}

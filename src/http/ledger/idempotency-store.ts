import type { Fragment, ISql, Sql, TransactionSql } from "postgres";
import { type Claim, LeasedRows } from "../../jobs/claims/leased-rows.ts";
import { fromNow } from "../../storage/database-clock.ts";

/**
 * The keys of requests. They are taken by their name and not when they become due, so taking one is a statement of its
 * own here; what the holder does with it afterwards is not.
 */
export const KEYS = new LeasedRows({ table: "idempotency_keys", claim: "attempt", until: "leased_until" });

/** Whose key it is, and which. */
export interface IdempotencyKey {
  readonly organizationId: number;
  /** `token:17`, or `user:5` for all sessions of a person. */
  readonly credential: string;
  /** SHA-256 of the key. */
  readonly keyHash: Uint8Array;
}

/** The key of an execution's row, and which execution has it. */
export function claimOf({ organizationId, credential, keyHash }: IdempotencyKey, attempt: string): Claim {
  return { claim: attempt, key: { organization_id: organizationId, credential, key_hash: keyHash } };
}

type ClaimOutcome =
  | { readonly kind: "claimed"; readonly entries: ClaimedEntries }
  | { readonly kind: "answered"; readonly sealedAnswer: Uint8Array }
  | { readonly kind: "in-progress"; readonly leasedForMs: number }
  /** What became of the request is known to the write-ahead log of another instance, which has been asked. */
  | { readonly kind: "elsewhere" }
  | { readonly kind: "reused" };

/** The entries of a request that stores some. */
export interface ClaimedEntries {
  /** Their name in write-ahead logs: that of every execution of the request, and of no other that uses the key later. */
  readonly storedAs: string;
  /** An earlier execution stored them and did not get to answer. */
  readonly isStored: boolean;
}

/** For what and for how long a key is taken. */
interface ClaimRequest {
  readonly attempt: string;
  readonly fingerprint: Uint8Array;
  readonly leaseMs: number;
  readonly keepMs: number;
  /** The write-ahead log that the execution may append to; null when it changes nothing but Postgres. */
  readonly log: ClaimLog | null;
}

export interface ClaimLog {
  readonly identity: string;
  /** An execution that ended longer ago may be forgotten by the log itself. */
  readonly reachMs: number;
  /** For how long an execution of another log that was asked about is left to what that log says. */
  readonly holdMs: number;
}

/**
 * Takes a key for a request, if it is free: never used, forgotten by now, or held for the same request by an
 * execution whose lease is over and of which it is known here whether it took effect.
 */
export async function claimKey(sql: Sql, key: IdempotencyKey, request: ClaimRequest): Promise<ClaimOutcome> {
  const { organizationId, credential, keyHash } = key;
  const { attempt, fingerprint, leaseMs, keepMs, log } = request;
  const [taken] = await sql<{ stored_as: string; is_stored: boolean }[]>`
    INSERT INTO idempotency_keys AS held
      (organization_id, credential, key_hash, fingerprint, attempt, log, stored_as, leased_until, expires_at)
    VALUES (${organizationId}, ${credential}, ${keyHash}, ${fingerprint}, ${attempt}, ${log?.identity ?? null},
            ${attempt}, ${fromNow(sql, leaseMs)}, ${fromNow(sql, keepMs)})
    ON CONFLICT (organization_id, credential, key_hash) DO UPDATE
    SET fingerprint = excluded.fingerprint, attempt = excluded.attempt,
        log = CASE WHEN held.is_stored AND held.expires_at > now() THEN held.log ELSE excluded.log END,
        leased_until = excluded.leased_until, expires_at = excluded.expires_at, answer = NULL, asked_at = NULL,
        lost_logs = CASE WHEN held.expires_at <= now() THEN '{}'
                         WHEN held.is_stored OR held.log IS NULL OR held.log = excluded.log THEN held.lost_logs
                         ELSE held.lost_logs || held.log END,
        stored_as = CASE WHEN held.expires_at > now() THEN held.stored_as ELSE excluded.stored_as END,
        is_stored = held.is_stored AND held.expires_at > now()
    WHERE held.expires_at <= now()
       OR (held.answer IS NULL AND held.leased_until <= now() AND held.fingerprint = excluded.fingerprint
           AND (held.log IS NULL OR held.is_stored
                OR (held.log = excluded.log AND (held.leased_until > ${fromNow(sql, -(log?.reachMs ?? 0))}
                                                 OR held.leased_until <= ${fromNow(sql, -(log?.holdMs ?? 0))}))
                OR held.asked_at <= ${fromNow(sql, -(log?.holdMs ?? 0))}))
    RETURNING stored_as, is_stored`;
  if (taken === undefined) return readHeld(sql, key, request);
  return { kind: "claimed", entries: { storedAs: taken.stored_as, isStored: taken.is_stored } };
}

interface HeldRow {
  fingerprint: Uint8Array;
  attempt: string | null;
  answer: Uint8Array | null;
  log: string | null;
  is_stored: boolean;
  leased_for_ms: number;
}

/** Why a key could not be taken. */
async function readHeld(
  sql: Sql,
  key: IdempotencyKey,
  { fingerprint, log }: ClaimRequest,
): Promise<ClaimOutcome> {
  const [held] = await sql<HeldRow[]>`
    SELECT fingerprint, attempt, answer, log, is_stored,
           (extract(epoch FROM leased_until - now()) * 1000)::double precision AS leased_for_ms
    FROM idempotency_keys WHERE ${ofKey(sql, key)}`;
  // Released in between: whoever asks again gets it.
  if (held === undefined) return { kind: "in-progress", leasedForMs: 0 };
  if (Buffer.compare(held.fingerprint, fingerprint) !== 0) return { kind: "reused" };
  if (held.answer !== null) return { kind: "answered", sealedAnswer: held.answer };
  const isElsewhere = held.log !== null && held.log !== log?.identity && !held.is_stored;
  if (held.leased_for_ms > 0 || !isElsewhere)
    return { kind: "in-progress", leasedForMs: Math.max(0, held.leased_for_ms) };
  if (held.attempt !== null)
    // Asks that log whether it holds the entries.
    await sql`
      UPDATE idempotency_keys SET asked_at = now()
      WHERE ${KEYS.held(sql, claimOf(key, held.attempt))} AND asked_at IS NULL`;
  return { kind: "elsewhere" };
}

/** A claim whose log is asked about. */
interface AskedClaim extends IdempotencyKey {
  readonly attempt: string;
  readonly log: string;
  readonly storedAs: string;
  /** How long ago its lease ended. */
  readonly endedForMs: number;
}

interface KeyRow {
  organization_id: number;
  credential: string;
  key_hash: Uint8Array;
  stored_as: string;
}

function keyOf({ organization_id, credential, key_hash }: KeyRow): IdempotencyKey {
  return { organizationId: organization_id, credential, keyHash: key_hash };
}

interface AskedRow extends KeyRow {
  attempt: string;
  log: string;
  ended_for_ms: number;
}

/** The condition for what a log of these names is asked. */
export function isAsked(sql: Sql, logs: readonly string[]): Fragment {
  return sql`
    log = ANY(${[...logs]}) AND asked_at IS NOT NULL AND answer IS NULL AND NOT is_stored AND leased_until <= now()`;
}

/** What a log of these names is asked, at most `limit` claims, oldest question first; of all organisations. */
export async function findAskedClaims(
  sql: Sql,
  logs: readonly string[],
  limit: number,
): Promise<AskedClaim[]> {
  const rows = await sql<AskedRow[]>`
    SELECT organization_id, credential, key_hash, attempt, log, stored_as,
           (extract(epoch FROM now() - leased_until) * 1000)::double precision AS ended_for_ms
    FROM idempotency_keys
    WHERE ${isAsked(sql, logs)}
    ORDER BY asked_at LIMIT ${limit}`;
  return rows.map((row) => ({
    ...keyOf(row),
    attempt: row.attempt,
    log: row.log,
    storedAs: row.stored_as,
    endedForMs: row.ended_for_ms,
  }));
}

/**
 * Gives a key back unanswered whose entries are stored: a repetition is answered and stores nothing. The lease ends a
 * millisecond ago, for the column rounds to one.
 */
export async function releaseStored(sql: Sql, claim: Claim): Promise<void> {
  await sql`
    UPDATE idempotency_keys
    SET ${KEYS.freed(sql)}, is_stored = true, asked_at = NULL, leased_until = ${fromNow(sql, -1)}
    WHERE ${KEYS.held(sql, claim)}`;
}

/**
 * Gives a key back that was not executed. Its row stays while a log that was given up may hold the entries: whoever comes
 * back with it takes the request on again.
 */
export async function releaseUnstored(sql: Sql, claim: Claim): Promise<void> {
  const kept = await sql`
    UPDATE idempotency_keys
    SET ${KEYS.freed(sql)}, log = NULL, asked_at = NULL, leased_until = ${fromNow(sql, -1)}
    WHERE ${KEYS.held(sql, claim)} AND lost_logs <> '{}'`;
  if (kept.count === 0) await KEYS.remove(sql, claim);
}

/** A request whose execution was given up, because the log it appended to was gone. */
export interface LostRequest extends IdempotencyKey {
  readonly storedAs: string;
}

/** What became of the requests that logs have lost. */
interface Reclaimed {
  /** Other logs have these, or their answer says that nobody is to. */
  readonly takenOver: readonly LostRequest[];
  /** Of how many others are being executed by another log, or only that one can tell what came of it. */
  readonly undecided: number;
}

interface LostRow extends KeyRow {
  log: string | null;
  is_done: boolean;
  is_held: boolean;
  is_past_hold: boolean;
}

/**
 * Decides who has the requests that logs of these names have lost, as far as `has` says that they hold the entries. The
 * row of a request that is done names the log that has it. Of one that is not done the log it names is asked, as a
 * repetition would ask it, and left its hold to answer; where there is none, or none that answered, the request is the
 * `present` log's from now on.
 */
export function reclaimLost(
  sql: Sql,
  { present, names, holdMs }: { present: string; names: readonly string[]; holdMs: number },
  has: (lost: LostRequest) => boolean,
): Promise<Reclaimed> {
  return sql.begin(async (tx) => {
    const rows = await tx<LostRow[]>`
      SELECT organization_id, credential, key_hash, stored_as, log, answer IS NOT NULL OR is_stored AS is_done,
             attempt IS NOT NULL AND leased_until > now() AS is_held,
             coalesce(asked_at <= ${fromNow(tx, -holdMs)}, false) AS is_past_hold
      FROM idempotency_keys WHERE lost_logs <> '{}' AND lost_logs && ${[...names]}::text[] AND expires_at > now()
      ORDER BY organization_id, credential, key_hash FOR UPDATE`;
    const takenOver: LostRequest[] = [];
    let undecided = 0;
    for (const row of rows) {
      const lost = { ...keyOf(row), storedAs: row.stored_as };
      if (!has(lost)) continue;
      const isElsewhere = row.log !== null && !names.includes(row.log);
      if (row.is_done) {
        if (isElsewhere) takenOver.push(lost);
      } else if (row.is_held || (isElsewhere && !row.is_past_hold)) {
        undecided += 1;
        if (!row.is_held)
          await tx`UPDATE idempotency_keys SET asked_at = coalesce(asked_at, now()) WHERE ${ofKey(tx, lost)}`;
      } else
        await tx`
          UPDATE idempotency_keys
          SET ${KEYS.freed(tx)}, is_stored = true, asked_at = NULL, log = ${present},
              lost_logs = CASE WHEN ${isElsewhere}::boolean THEN lost_logs || log ELSE lost_logs END
          WHERE ${ofKey(tx, lost)}`;
    }
    return { takenOver, undecided };
  });
}

function ofKey(sql: ISql, { organizationId, credential, keyHash }: IdempotencyKey): Fragment {
  return sql`organization_id = ${organizationId} AND credential = ${credential} AND key_hash = ${keyHash}`;
}

/** Keeps the answer of a claim, which ends it. False when another execution has taken the key over meanwhile. */
export async function keepAnswer(
  sql: Sql | TransactionSql,
  claim: Claim,
  sealedAnswer: Uint8Array,
): Promise<boolean> {
  const { count } = await sql`
    UPDATE idempotency_keys SET ${KEYS.freed(sql)}, answer = ${sealedAnswer} WHERE ${KEYS.held(sql, claim)}`;
  return count === 1;
}

/** Removes keys whose time is over by the clock of Postgres, at most `limit` of them, and answers how many. */
export async function removeExpiredKeys(sql: Sql, _nowMs: number, limit: number): Promise<number> {
  const { count } = await sql`
    DELETE FROM idempotency_keys
    WHERE (organization_id, credential, key_hash) IN (
      SELECT organization_id, credential, key_hash FROM idempotency_keys
      WHERE expires_at <= now() LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )`;
  return count;
}

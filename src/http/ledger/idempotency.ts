import { createHash } from "node:crypto";
import type { Sql, TransactionSql } from "postgres";
import type { Principal } from "../../access/principal.ts";
import type { SecretBox } from "../../access/secret-box.ts";
import { ThreadSlice } from "../../concurrency/thread-turns.ts";
import { ApiError } from "../../errors.ts";
import { keepRenewed } from "../../jobs/claims/keep-renewed.ts";
import type { Claim } from "../../jobs/claims/leased-rows.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { COPY_SLICE_BYTES } from "../limits.ts";
import {
  type ClaimedEntries,
  claimKey,
  claimOf,
  type IdempotencyKey,
  KEYS,
  keepAnswer,
} from "./idempotency-store.ts";
import { ELSEWHERE_RETRY_SEC, KEEP_MS, LEASE_MS, RENEW_EVERY_MS } from "./limits.ts";
import {
  decodeAnswer,
  encodeAnswer,
  MAX_REMEMBERED_CHARS,
  type RememberedAnswer,
} from "./remembered-answer.ts";
import type { RequestName } from "./request-name.ts";
import type { StoredRequests } from "./stored-requests.ts";

const KEY_MAX_CHARS = 255;

/** The identity of a request: a key stands for one of them. */
export interface RequestIdentity {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly body: Uint8Array;
  /** It stores entries, which are not part of a transaction. */
  readonly isIngest: boolean;
}

/** The `Idempotency-Key` of a request; null without one. Throws IDEMPOTENCY_KEY_TOO_LONG. */
export function idempotencyKeyOf(request: Request): string | null {
  const key = request.headers.get("idempotency-key");
  if (key === null || key === "") return null;
  if (key.length > KEY_MAX_CHARS)
    throw new ApiError(
      "IDEMPOTENCY_KEY_TOO_LONG",
      `An Idempotency-Key has at most ${KEY_MAX_CHARS} characters.`,
    );
  return key;
}

/** Whose keys a caller uses: a token's are its own, those of a person's sessions are the person's. */
export function keySpaceOf(principal: Principal): string {
  return principal.tokenId === null ? `user:${principal.userId}` : `token:${principal.tokenId}`;
}

interface IdempotencyDeps {
  readonly sql: Sql;
  readonly box: SecretBox;
  /** Of this instance; where absent nothing stores entries. */
  readonly storedRequests?: StoredRequests | undefined;
}

/**
 * Executes requests with an Idempotency-Key once: their answers are kept in Postgres, encrypted, for 24 hours, where
 * every instance finds them, with Redis or without.
 */
export class Idempotency {
  readonly #deps: IdempotencyDeps;

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps;
  }

  /**
   * Takes the key for this request, or answers what it was answered before. Throws IDEMPOTENCY_KEY_REUSED when the
   * key stands for another request, IDEMPOTENCY_IN_PROGRESS while this one is being executed, and UNAVAILABLE while
   * only another instance can tell whether it was.
   */
  async begin(
    principal: Principal,
    key: string,
    identity: RequestIdentity,
  ): Promise<ExecutionOfKey | RememberedAnswer> {
    const held = {
      organizationId: principal.organizationId,
      credential: keySpaceOf(principal),
      keyHash: createHash("sha256").update(key).digest(),
    };
    const attempt = crypto.randomUUID();
    const storedRequests = identity.isIngest ? this.#deps.storedRequests : undefined;
    storedRequests?.begin(attempt);
    let execution: ExecutionOfKey | undefined;
    try {
      const begun = await this.#claim(held, attempt, identity, storedRequests);
      if (begun instanceof ExecutionOfKey) execution = begun;
      return begun;
    } finally {
      if (execution === undefined) storedRequests?.end(attempt);
    }
  }

  async #claim(
    key: IdempotencyKey,
    attempt: string,
    identity: RequestIdentity,
    storedRequests: StoredRequests | undefined,
  ): Promise<ExecutionOfKey | RememberedAnswer> {
    const { sql, box } = this.#deps;
    const request = {
      attempt,
      fingerprint: await fingerprintOf(identity),
      leaseMs: LEASE_MS,
      keepMs: KEEP_MS,
      log: storedRequests?.claimLog() ?? null,
    };
    const outcome = await askPostgres(() => claimKey(sql, key, request));
    switch (outcome.kind) {
      case "claimed":
        return new ExecutionOfKey({ sql, box, storedRequests }, key, attempt, outcome.entries);
      case "answered":
        return decodeAnswer(box.open(Buffer.from(outcome.sealedAnswer), PURPOSE));
      case "reused":
        throw new ApiError(
          "IDEMPOTENCY_KEY_REUSED",
          "The Idempotency-Key belongs to a request with another method, path or body.",
        );
      case "in-progress":
        throw inProgress(Math.max(1, Math.ceil(outcome.leasedForMs / 1000)));
      case "elsewhere":
        throw new ApiError(
          "UNAVAILABLE",
          "The instance that took the request with this Idempotency-Key did not answer it; whether it stored the entries is known when it is back.",
          { retryAfterSeconds: ELSEWHERE_RETRY_SEC },
        );
    }
  }
}

/** What an answer is sealed for. */
const PURPOSE = "idempotency";

/** A request that holds its key: it ends with an answer that is kept, or gives the key back. */
export class ExecutionOfKey {
  readonly name: RequestName;
  readonly #deps: IdempotencyDeps;
  readonly #key: IdempotencyKey;
  readonly #claim: Claim;
  readonly #renewal: Disposable;
  #isKept = false;

  constructor(deps: IdempotencyDeps, key: IdempotencyKey, attempt: string, entries: ClaimedEntries) {
    this.#deps = deps;
    this.#key = key;
    this.#claim = claimOf(key, attempt);
    this.name = { text: `key ${Buffer.from(key.keyHash).toString("hex")}`, ...entries };
    const renew = () => askPostgres(() => KEYS.renew(deps.sql, this.#claim, LEASE_MS));
    this.#renewal = keepRenewed(renew, RENEW_EVERY_MS);
  }

  /**
   * Keeps the answer, in the transaction of the change where there is one. Throws IDEMPOTENCY_IN_PROGRESS, which undoes
   * that transaction, when another execution has taken the key over.
   */
  async keepIn(tx: Sql | TransactionSql, answer: RememberedAnswer): Promise<void> {
    const text = encodeAnswer(answer);
    if (text.length > MAX_REMEMBERED_CHARS) throw new Error("an answer is too long to be remembered");
    if (!(await keepAnswer(tx, this.#claim, this.#deps.box.seal(text, PURPOSE)))) throw inProgress(1);
  }

  /** To be called once the transaction `keepIn` was part of has ended well. */
  kept(): void {
    this.#isKept = true;
  }

  /**
   * Ends the execution: keeps `answer` unless one is kept already; null gives the key back, so that a repetition is
   * executed anew.
   */
  async end(answer: RememberedAnswer | null): Promise<void> {
    this.#renewal[Symbol.dispose]();
    // Whatever becomes of its row, the execution appends nothing any more.
    this.#deps.storedRequests?.end(this.#claim.claim);
    if (this.#isKept) return;
    const { sql } = this.#deps;
    if (answer === null || encodeAnswer(answer).length > MAX_REMEMBERED_CHARS) await this.#release();
    else await askPostgres(() => this.keepIn(sql, answer));
  }

  async #release(): Promise<void> {
    const { sql, storedRequests } = this.#deps;
    if (storedRequests === undefined) await askPostgres(() => KEYS.remove(sql, this.#claim));
    else await storedRequests.release(this.#key, this.#claim, this.name.storedAs);
  }
}

async function fingerprintOf({ method, target, body }: RequestIdentity): Promise<Buffer> {
  const hash = createHash("sha256").update(`${method} ${target}\0`);
  const slice = new ThreadSlice();
  for (let at = 0; at < body.length; at += COPY_SLICE_BYTES) {
    hash.update(body.subarray(at, at + COPY_SLICE_BYTES));
    if (slice.isOver) await slice.yield();
  }
  return hash.digest();
}

function inProgress(retryAfterSeconds: number): ApiError {
  return new ApiError("IDEMPOTENCY_IN_PROGRESS", "A request with this Idempotency-Key is being executed.", {
    retryAfterSeconds,
  });
}

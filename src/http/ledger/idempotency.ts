import { createHash } from "node:crypto";
import type { Sql, TransactionSql } from "postgres";
import { ApiError } from "../../errors.ts";
import type { SecretBox } from "../../secrets/secret-box.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import type { Principal } from "../principal.ts";
import { type Claim, claimKey, keepAnswer, releaseKey, renewLease } from "./idempotency-store.ts";
import {
  decodeAnswer,
  encodeAnswer,
  MAX_REMEMBERED_CHARS,
  type RememberedAnswer,
} from "./remembered-answer.ts";

/** How long an answer is remembered. */
const KEEP_MS = 24 * 3_600_000;
/** For how long an execution that is not heard of is believed to be alive; after a crash repetitions wait this long. */
const LEASE_MS = 5_000;
/** How often an execution that takes long says that it lives: twice within a lease may fail. */
const RENEW_EVERY_MS = 1_500;
const KEY_MAX_CHARS = 255;

/** The identity of a request: a key stands for one of them. */
export interface RequestIdentity {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly body: Uint8Array;
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

/**
 * Executes requests with an Idempotency-Key once: their answers are kept in Postgres, encrypted, for 24 hours, where
 * every instance finds them, with Redis or without.
 */
export class Idempotency {
  readonly #sql: Sql;
  readonly #box: SecretBox;
  readonly #now: () => number;

  constructor(deps: { sql: Sql; box: SecretBox; now: () => number }) {
    this.#sql = deps.sql;
    this.#box = deps.box;
    this.#now = deps.now;
  }

  /**
   * Takes the key for this request, or answers what it was answered before. Throws IDEMPOTENCY_KEY_REUSED when the
   * key stands for another request and IDEMPOTENCY_IN_PROGRESS while this one is being executed.
   */
  async begin(
    principal: Principal,
    key: string,
    identity: RequestIdentity,
  ): Promise<ExecutionOfKey | RememberedAnswer> {
    const nowMs = this.#now();
    const held = {
      organizationId: principal.organizationId,
      credential: keySpaceOf(principal),
      keyHash: createHash("sha256").update(key).digest(),
    };
    const request = { fingerprint: fingerprintOf(identity), nowMs, leaseMs: LEASE_MS, keepMs: KEEP_MS };
    const outcome = await askPostgres(() => claimKey(this.#sql, held, request));
    switch (outcome.kind) {
      case "claimed":
        return new ExecutionOfKey({ sql: this.#sql, box: this.#box, now: this.#now }, outcome.claim);
      case "answered":
        return decodeAnswer(this.#box.open(Buffer.from(outcome.sealedAnswer), PURPOSE));
      case "reused":
        throw new ApiError(
          "IDEMPOTENCY_KEY_REUSED",
          "The Idempotency-Key belongs to a request with another method, path or body.",
        );
      case "in-progress":
        throw inProgress(Math.max(1, Math.ceil((outcome.leasedUntilMs - nowMs) / 1000)));
    }
  }
}

/** What an answer is sealed for. */
const PURPOSE = "idempotency";

/** A request that holds its key: it ends with an answer that is kept, or gives the key back. */
export class ExecutionOfKey {
  readonly #deps: { sql: Sql; box: SecretBox; now: () => number };
  readonly #claim: Claim;
  readonly #renewal: ReturnType<typeof setInterval>;
  #isKept = false;

  constructor(deps: { sql: Sql; box: SecretBox; now: () => number }, claim: Claim) {
    this.#deps = deps;
    this.#claim = claim;
    // A renewal that fails is made up for by the next one; without any the key is lost, which `keep` notices.
    this.#renewal = setInterval(() => {
      askPostgres(() => renewLease(deps.sql, claim, deps.now() + LEASE_MS)).catch(() => undefined);
    }, RENEW_EVERY_MS);
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
    clearInterval(this.#renewal);
    if (this.#isKept) return;
    const { sql } = this.#deps;
    if (answer === null || encodeAnswer(answer).length > MAX_REMEMBERED_CHARS)
      await askPostgres(() => releaseKey(sql, this.#claim));
    else await askPostgres(() => this.keepIn(sql, answer));
  }
}

function fingerprintOf({ method, target, body }: RequestIdentity): Buffer {
  return createHash("sha256").update(`${method} ${target}\0`).update(body).digest();
}

function inProgress(retryAfterSeconds: number): ApiError {
  return new ApiError("IDEMPOTENCY_IN_PROGRESS", "A request with this Idempotency-Key is being executed.", {
    retryAfterSeconds,
  });
}

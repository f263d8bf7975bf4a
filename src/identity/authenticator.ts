import type { Sql } from "postgres";
import type { Principal } from "../access/principal.ts";
import {
  hashToken,
  isPersonalAccessToken,
  isSessionToken,
  sameTokenHash,
  tokenHashKey,
} from "../access/secret-token.ts";
import { ApiError, DependencyError } from "../errors.ts";
import type { CredentialReader } from "../http/route.ts";
import type { Logger } from "../log.ts";
import { askPostgres } from "../storage/ask-postgres.ts";
import { LookupCache } from "../storage/lookup-cache.ts";
import { type Credential, findSession, findToken, touchSessions, touchTokens } from "./credential-store.ts";
import {
  CREDENTIAL_CACHE_LIFE_MS,
  CREDENTIAL_CACHE_MAX,
  CREDENTIAL_LOOKUP_TIMEOUT_MS,
  CREDENTIAL_LOOKUPS_MAX,
  REFUSED_CREDENTIAL_CACHE_MAX,
} from "./limits.ts";
import { readSessionCookies } from "./session-cookie.ts";
import { UsageRecorder } from "./usage-recorder.ts";

const BEARER = /^bearer(?: +(.*))?$/i;

interface AuthenticatorOptions {
  sql: Sql;
  now: () => number;
  log: Logger;
}

/**
 * Establishes who calls. A credential is trusted for at most a second without asking Postgres, so a revocation is
 * noticed within a second by every instance, and at once by the one that made it. While Postgres does not answer,
 * callers get DependencyError once that second is over, never UNAUTHENTICATED.
 */
export class Authenticator {
  readonly #sql: Sql;
  readonly #now: () => number;
  readonly #cache: LookupCache<Credential>;
  readonly #sessionUse: UsageRecorder;
  readonly #tokenUse: UsageRecorder;
  #lookupsUnderWay = 0;

  constructor(options: AuthenticatorOptions) {
    const { sql, now, log } = options;
    this.#sql = sql;
    this.#now = now;
    this.#cache = new LookupCache({
      now,
      lifeMs: CREDENTIAL_CACHE_LIFE_MS,
      max: CREDENTIAL_CACHE_MAX,
      absentMax: REFUSED_CREDENTIAL_CACHE_MAX,
    });
    this.#sessionUse = new UsageRecorder({
      now,
      log,
      touch: (...use) => askPostgres(() => touchSessions(sql, ...use)),
    });
    this.#tokenUse = new UsageRecorder({
      now,
      log,
      touch: (...use) => askPostgres(() => touchTokens(sql, ...use)),
    });
  }

  /**
   * The caller of a request: by its bearer token if it has one, else by the token that `readCredential` finds, else by
   * its session cookie, else null. Other
   * authorization schemes are not ours, a proxy in front may use them. Throws UNAUTHENTICATED for a credential
   * that is malformed, unknown, expired, revoked or without a membership, and DependencyError.
   */
  authenticate(request: Request, readCredential?: CredentialReader): Principal | null | Promise<Principal> {
    const bearer = BEARER.exec(request.headers.get("authorization") ?? "");
    if (bearer !== null) return this.#principalOf("token", (bearer[1] ?? "").trim());
    const token = readCredential?.(request) ?? null;
    if (token !== null) return this.#principalOf("token", token);
    const [cookie, ...others] = readSessionCookies(request);
    if (cookie === undefined) return null;
    if (others.length > 0) throw unauthenticated("The request carries two different session cookies.");
    return this.#principalOf("session", cookie);
  }

  /** Makes this instance ask Postgres anew about the credential with this hash; called after every revocation. */
  forget(tokenHash: Uint8Array): void {
    this.#cache.forget(Buffer.from(tokenHash).toString("base64"));
  }

  /** Resolves when the uses noted so far are written or given up; to be awaited before Postgres is closed. */
  async settled(): Promise<void> {
    await Promise.all([this.#sessionUse.settled(), this.#tokenUse.settled()]);
  }

  /** Answers at once what is remembered, which is nearly always. */
  #principalOf(kind: Principal["kind"], secret: string): Principal | Promise<Principal> {
    const wellFormed = kind === "token" ? isPersonalAccessToken(secret) : isSessionToken(secret);
    if (!wellFormed) throw unauthenticated();
    const key = tokenHashKey(secret);
    const remembered = this.#cache.peek(key);
    if (remembered !== undefined) return this.#requireLive(remembered);
    const tokenHash = hashToken(secret);
    return this.#cache
      .get(key, () => this.#lookUp(kind, tokenHash))
      .then((credential) => this.#requireLive(credential));
  }

  #requireLive(credential: Credential | null): Principal {
    if (credential === null || this.#isExpired(credential)) throw unauthenticated();
    return credential.principal;
  }

  async #lookUp(kind: Principal["kind"], tokenHash: Uint8Array): Promise<Credential | null> {
    if (this.#lookupsUnderWay >= CREDENTIAL_LOOKUPS_MAX) {
      throw new DependencyError("postgres", "too many credential lookups are unanswered", {
        retryable: true,
      });
    }
    this.#lookupsUnderWay += 1;
    const find = kind === "token" ? findToken : findSession;
    // Counted until it really ends, so that what a hanging Postgres leaves behind stays bounded.
    const answer = find(this.#sql, tokenHash).finally(() => {
      this.#lookupsUnderWay -= 1;
    });
    const credential = await askPostgres(() => answer, CREDENTIAL_LOOKUP_TIMEOUT_MS);
    if (credential === null || !sameTokenHash(credential.tokenHash, tokenHash)) return null;
    // Noted when looked up rather than at every use: within the second of trust nothing new would be written.
    if (!this.#isExpired(credential)) this.#noteUse(credential);
    return credential;
  }

  #noteUse(credential: Credential): void {
    const recorder = credential.principal.kind === "token" ? this.#tokenUse : this.#sessionUse;
    recorder.record(credential.rowId, credential.lastUsedAtMs);
  }

  #isExpired(credential: Credential): boolean {
    return credential.expiresAtMs !== null && credential.expiresAtMs <= this.#now();
  }
}

function unauthenticated(message = "The credential is unknown, expired or revoked."): ApiError {
  return new ApiError("UNAUTHENTICATED", message);
}

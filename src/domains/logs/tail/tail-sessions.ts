import type { Sql } from "postgres";
import { ApiError } from "../../../errors.ts";
import { requireAccess } from "../../../http/access.ts";
import type { Authenticator } from "../../../http/authenticator.ts";
import type { Principal } from "../../../http/principal.ts";
import { hashToken, mintSessionToken } from "../../../identity/secret-token.ts";
import type { Logger } from "../../../log.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { SESSION_LIFE_MS, SESSIONS_PER_ORGANIZATION_MAX } from "./limits.ts";
import { readTailFilter } from "./read-filter.ts";
import {
  extendTailSessions,
  insertTailSession,
  type TailSession,
  useTailSession,
  validTailSessions,
} from "./session-store.ts";
import type { TailParameters } from "./types.ts";

const TAIL_TOKEN = /^tail_[A-Za-z0-9_-]{43}$/;
const BEARER_TAIL_TOKEN = /^bearer +(tail_\S+)$/i;
const ACCESS = { role: "viewer", scope: "logs:read" } as const;

export interface TailSessionsOptions {
  readonly sql: Sql;
  readonly authenticator: Authenticator;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Whose entries a stream shows, which of them, and what proves that it may. */
export interface TailGrant {
  readonly organizationId: number;
  /** Those that the session was made with. */
  readonly parameters: TailParameters;
  /** Null where the caller's own credential opens the stream. */
  readonly sessionId: number | null;
  /** Whether that credential is still valid. Rejects when it cannot be found out. */
  readonly isAllowed: () => Promise<boolean>;
}

/** Who may open a live tail. */
export class TailSessions {
  readonly #options: TailSessionsOptions;

  constructor(options: TailSessionsOptions) {
    this.#options = options;
  }

  /**
   * Makes a session. Throws VALIDATION_FAILED, TAIL_LIMIT_REACHED when the organization has too many, and
   * DependencyError.
   */
  async create(
    principal: Principal,
    parameters: TailParameters,
  ): Promise<{ token: string; expiresAt: string }> {
    const createdAtMs = this.#options.now();
    readTailFilter(parameters, {}, createdAtMs);
    const token = `tail_${mintSessionToken()}`;
    const expiresAtMs = createdAtMs + SESSION_LIFE_MS;
    const session = { tokenHash: hashToken(token), principal, parameters, createdAtMs, expiresAtMs };
    const isStored = await askPostgres(() =>
      insertTailSession(this.#options.sql, principal.organizationId, session, SESSIONS_PER_ORGANIZATION_MAX),
    );
    if (!isStored)
      throw new ApiError(
        "TAIL_LIMIT_REACHED",
        `The organization has ${SESSIONS_PER_ORGANIZATION_MAX} tail sessions; they end an hour after their last use.`,
      );
    return { token, expiresAt: new Date(expiresAtMs).toISOString() };
  }

  /**
   * Judges who opens a stream: by the token of a session, as a parameter or as a bearer token, else by the caller's own
   * credential. Throws UNAUTHENTICATED, PAT_SCOPE_INSUFFICIENT, FORBIDDEN and DependencyError.
   */
  async authorize(request: Request, parameter: string | undefined): Promise<TailGrant> {
    const token = parameter ?? BEARER_TAIL_TOKEN.exec(request.headers.get("authorization") ?? "")?.[1];
    if (token === undefined) return this.#authorizeCaller(request);
    const session = TAIL_TOKEN.test(token) ? await this.#use(hashToken(token)) : null;
    if (session === null)
      throw new ApiError("UNAUTHENTICATED", "The tail session is unknown, expired or revoked.");
    return { ...session, sessionId: session.id, isAllowed: async () => true };
  }

  /** Those of the sessions whose credential is still valid. Rejects when it cannot be found out. */
  valid(ids: readonly number[]): Promise<number[]> {
    return askPostgres(() => validTailSessions(this.#options.sql, ids, this.#options.now()));
  }

  /** Writes down that sessions are in use; what fails is made up for by the next time. */
  touch(ids: readonly number[]): void {
    if (ids.length === 0) return;
    const expiresAtMs = this.#options.now() + SESSION_LIFE_MS;
    askPostgres(() => extendTailSessions(this.#options.sql, ids, expiresAtMs)).catch((error: unknown) =>
      this.#options.log.warn({ err: error }, "the use of tail sessions was not written down"),
    );
  }

  #use(tokenHash: Uint8Array): Promise<TailSession | null> {
    const nowMs = this.#options.now();
    return askPostgres(() => useTailSession(this.#options.sql, tokenHash, nowMs, nowMs + SESSION_LIFE_MS));
  }

  async #authorizeCaller(request: Request): Promise<TailGrant> {
    const { authenticator } = this.#options;
    // A copy, because the listener takes a request back once it is answered.
    const credential = new Request(request.url, { headers: request.headers });
    const principal = await authenticator.authenticate(credential);
    requireAccess(ACCESS, principal);
    if (principal === null) throw new ApiError("UNAUTHENTICATED", "A credential is required.");
    const isAllowed = async (): Promise<boolean> => {
      try {
        requireAccess(ACCESS, await authenticator.authenticate(credential));
        return true;
      } catch (error) {
        if (error instanceof ApiError) return false;
        throw error;
      }
    };
    return { organizationId: principal.organizationId, parameters: {}, sessionId: null, isAllowed };
  }
}

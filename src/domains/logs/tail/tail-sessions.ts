import type { Sql } from "postgres";
import type { Principal } from "../../../access/principal.ts";
import { hashToken, mintSessionToken } from "../../../access/secret-token.ts";
import { ApiError } from "../../../errors.ts";
import { requireAccess } from "../../../http/access.ts";
import type { Authenticator } from "../../../http/authenticator.ts";
import type { Logger } from "../../../log.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { SESSION_LIFE_MS, SESSIONS_PER_ORGANIZATION_MAX, SESSIONS_PER_PERSON_MAX } from "./limits.ts";
import { readTailFilter } from "./read-filter.ts";
import {
  extendTailSessions,
  insertTailSession,
  sessionIdOf,
  type TailCredential,
  type TailSession,
  useTailSession,
  validCredentials,
} from "./session-store.ts";
import type { TailParameters } from "./types.ts";

const TAIL_TOKEN = /^tail_[A-Za-z0-9_-]{43}$/;
const BEARER_TAIL_TOKEN = /^bearer +(tail_\S+)$/i;
const ACCESS = { role: "viewer", scope: "logs:read" } as const;

interface TailSessionsOptions {
  readonly sql: Sql;
  readonly authenticator: Authenticator;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Whose entries a stream shows, which of them, and what proves that it may. */
export interface TailGrant {
  readonly organizationId: number;
  readonly userId: number;
  /** Those that the session was made with. */
  readonly parameters: TailParameters;
  readonly credential: TailCredential;
}

/** Names a credential. */
export function credentialKey({ kind, id }: TailCredential): string {
  return `${kind}:${id}`;
}

const SESSION_BOUNDS = { ofOrganization: SESSIONS_PER_ORGANIZATION_MAX, ofPerson: SESSIONS_PER_PERSON_MAX };

/** Who may open a live tail. */
export class TailSessions {
  readonly #options: TailSessionsOptions;

  constructor(options: TailSessionsOptions) {
    this.#options = options;
  }

  /**
   * Makes a session. Throws VALIDATION_FAILED, TAIL_LIMIT_REACHED when the organization or the person has too many, and
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
      insertTailSession(this.#options.sql, principal.organizationId, session, SESSION_BOUNDS),
    );
    if (!isStored)
      throw new ApiError(
        "TAIL_LIMIT_REACHED",
        `An organization has at most ${SESSION_BOUNDS.ofOrganization} tail sessions, and a person ${SESSION_BOUNDS.ofPerson}; they end an hour after their last use.`,
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
    return { ...session, credential: { kind: "tail", id: session.id } };
  }

  /** The keys of those that are still valid. Rejects when it cannot be found out. */
  async valid(credentials: readonly TailCredential[]): Promise<ReadonlySet<string>> {
    const rows = await askPostgres(() =>
      validCredentials(this.#options.sql, credentials, this.#options.now()),
    );
    return new Set(rows.map(({ kind, id }) => credentialKey({ kind, id: Number(id) })));
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
    const principal = await this.#options.authenticator.authenticate(request);
    requireAccess(ACCESS, principal);
    if (principal === null) throw new ApiError("UNAUTHENTICATED", "A credential is required.");
    const { organizationId, userId } = principal;
    return { organizationId, userId, parameters: {}, credential: credentialOf(principal) };
  }
}

function credentialOf(principal: Principal): TailCredential {
  const sessionId = sessionIdOf(principal);
  return sessionId === null
    ? { kind: "token", id: principal.tokenId ?? 0 }
    : { kind: "session", id: sessionId };
}

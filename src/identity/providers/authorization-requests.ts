import type { Sql } from "postgres";
import { type Static, Type } from "typebox";
import type { SecretBox } from "../../access/secret-box.ts";
import { hashToken, mintSessionToken } from "../../access/secret-token.ts";
import { ApiError } from "../../errors.ts";
import { lateCheck } from "../../late-check.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { AUTHORIZATION_LIFE_MS, AUTHORIZATION_REQUESTS_MAX } from "./limits.ts";
import { PROVIDER_IDS } from "./provider.ts";

const ProviderIdSchema = Type.Enum([...PROVIDER_IDS]);
const Session = Type.Object({ credentialKey: Type.String(), userId: Type.Integer() });

/** What somebody went to a provider for. */
const Intent = Type.Union([
  Type.Object({ kind: Type.Literal("sign-in"), provider: ProviderIdSchema }),
  Type.Object({ kind: Type.Literal("link"), provider: ProviderIdSchema, session: Session }),
  Type.Object({ kind: Type.Literal("sso"), organizationId: Type.Integer() }),
  Type.Object({ kind: Type.Literal("sso-link"), organizationId: Type.Integer(), session: Session }),
]);
export type Intent = Static<typeof Intent>;

const AuthorizationRequest = Type.Object({
  intent: Intent,
  /** Whom the answer must come from and be meant for. */
  issuer: Type.String(),
  clientId: Type.String(),
  nonce: Type.String(),
  codeVerifier: Type.String(),
  returnPath: Type.String(),
});
export type AuthorizationRequest = Static<typeof AuthorizationRequest>;

const checker = lateCheck(AuthorizationRequest);

export interface AuthorizationRequestDependencies {
  readonly sql: Sql;
  readonly box: SecretBox;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Rows one sign-in removes: those that are over, and the oldest of too many. */
const REMOVED_AT_ONCE = 100;

/** Remembers a sign-in under a state, which is stored as a hash only; answers the value of the browser's cookie. */
export async function rememberRequest(
  { sql, box, now }: AuthorizationRequestDependencies,
  state: string,
  request: AuthorizationRequest,
): Promise<string> {
  const cookieValue = mintSessionToken();
  const stateHash = hashToken(state);
  const sealed = box.seal(JSON.stringify(request), purposeOf(stateHash));
  const nowMs = now();
  await askPostgres(async () => {
    // One is added each time and more are removed, so this keeps up; what somebody else removes is left to them.
    await sql`
      DELETE FROM authorization_requests WHERE state_hash IN (
        SELECT state_hash FROM authorization_requests
        WHERE expires_at <= greatest(${new Date(nowMs)}::timestamptz, (
          SELECT expires_at FROM authorization_requests
          ORDER BY expires_at DESC OFFSET ${AUTHORIZATION_REQUESTS_MAX - 1} LIMIT 1
        ))
        ORDER BY expires_at LIMIT ${REMOVED_AT_ONCE} FOR UPDATE SKIP LOCKED
      )`;
    await sql`
      INSERT INTO authorization_requests (state_hash, browser_hash, sealed, expires_at)
      VALUES (${stateHash}, ${hashToken(cookieValue)}, ${sealed}, ${new Date(nowMs + AUTHORIZATION_LIFE_MS)})`;
  });
  return cookieValue;
}

/**
 * Takes a sign-in out, so that its state works once. Throws SIGN_IN_EXPIRED for a state that is unknown, used or over,
 * and for a browser other than the one that began; such a one cannot use the state up either.
 */
export async function takeRequest(
  { sql, box, now }: AuthorizationRequestDependencies,
  state: string,
  cookieValues: readonly string[],
): Promise<AuthorizationRequest> {
  const stateHash = hashToken(state);
  const browserHashes = cookieValues.map(hashToken);
  if (browserHashes.length === 0) throw signInExpired();
  const [row] = await askPostgres(
    () => sql<{ sealed: Uint8Array }[]>`
      DELETE FROM authorization_requests
      WHERE state_hash = ${stateHash} AND browser_hash IN ${sql(browserHashes)} AND expires_at > ${new Date(now())}
      RETURNING sealed`,
  );
  if (row === undefined) throw signInExpired();
  const request: unknown = JSON.parse(box.open(row.sealed, purposeOf(stateHash)));
  if (!checker.Check(request)) throw new Error("a remembered sign-in has another form");
  return request;
}

export function signInExpired(): ApiError {
  return new ApiError(
    "SIGN_IN_EXPIRED",
    "This sign-in is over, was used already, or was begun in another browser; begin again.",
  );
}

function purposeOf(stateHash: Buffer): string {
  return `authorization-request:${stateHash.toString("hex")}`;
}

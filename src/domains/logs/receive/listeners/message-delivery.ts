import type { RecordDecoder } from "../../../../../ingest/index.ts";
import type { Principal } from "../../../../access/principal.ts";
import { ApiError, DependencyError } from "../../../../errors.ts";
import { requireAccess } from "../../../../http/access.ts";
import type { Authenticator } from "../../../../http/authenticator.ts";
import { ownRequestName } from "../../../../http/ledger/request-name.ts";
import type { LogReceiver } from "../../../../receive/receive-records.ts";

/** What became of a batch: stored; refused for good; or to be tried again, at the earliest after `afterMs`. */
export type Delivered =
  | { readonly outcome: "stored" }
  | { readonly outcome: "refused"; readonly error: ApiError }
  | {
      readonly outcome: "unavailable";
      readonly afterMs: number;
      /** Nobody foresaw it, so waiting may not help. */
      readonly isUnexpected: boolean;
      readonly error: unknown;
    };

const ACCESS = { role: "member", scope: "logs:write" } as const;

/** Stores what the listeners gathered, for the organisation of a token. */
export class MessageDelivery {
  readonly #receiver: Pick<LogReceiver, "receive">;
  readonly #decoder: RecordDecoder;
  readonly #authenticator: Authenticator;
  /** What the authenticator reads the token from: a request that never travels. */
  readonly #credential: Request;

  constructor(deps: {
    receiver: Pick<LogReceiver, "receive">;
    decoder: RecordDecoder;
    authenticator: Authenticator;
    token: string;
  }) {
    this.#receiver = deps.receiver;
    this.#decoder = deps.decoder;
    this.#authenticator = deps.authenticator;
    this.#credential = new Request("http://localhost/", {
      headers: { authorization: `Bearer ${deps.token}` },
    });
  }

  /** Stores a batch. `name` is the same at every attempt, so that none stores it twice. */
  async deliver(body: Uint8Array, name: string): Promise<Delivered> {
    try {
      await this.#receiver.receive({
        principal: await this.#principal(),
        body,
        decoder: this.#decoder,
        // A batch is sent again when it could not be stored, so it is not given away.
        apart: null,
        requestName: ownRequestName(`${this.#decoder.format} ${name}`),
        sourceKey: null,
        quarantines: true,
      });
      return { outcome: "stored" };
    } catch (error) {
      return deliveredOf(error);
    }
  }

  /** The error with which messages would be refused now; null when they would not, or when that is not known. */
  async refusal(): Promise<ApiError | null> {
    try {
      await this.#principal();
      return null;
    } catch (error) {
      const delivered = deliveredOf(error);
      return delivered.outcome === "refused" ? delivered.error : null;
    }
  }

  /** Throws ApiError for a token that is not valid or may not store logs, and DependencyError. */
  async #principal(): Promise<Principal> {
    const principal = await this.#authenticator.authenticate(this.#credential);
    if (principal === null) throw new ApiError("UNAUTHENTICATED", "The token is not valid.");
    requireAccess(ACCESS, principal);
    return principal;
  }
}

function deliveredOf(error: unknown): Delivered {
  if (error instanceof DependencyError)
    return { outcome: "unavailable", afterMs: 0, isUnexpected: !error.retryable, error };
  if (!(error instanceof ApiError)) return { outcome: "unavailable", afterMs: 0, isUnexpected: true, error };
  if (error.status === 401 || error.status === 403) return { outcome: "refused", error };
  const afterMs = (error.retryAfterSeconds ?? 0) * 1000;
  // A full log and a used-up cap pass; a body that cannot be decoded does not.
  const isUnexpected = error.status !== 503 && error.status !== 429;
  return { outcome: "unavailable", afterMs, isUnexpected, error };
}

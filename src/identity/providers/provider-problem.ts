import { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } from "openid-client";
import { ApiError } from "../../errors.ts";
import { OutboundError } from "../../outbound/outbound-error.ts";
import { PROVIDER_RETRY_AFTER_SECONDS } from "./limits.ts";

/**
 * What went wrong at a provider: it does not answer, it says no, its answer proves nothing, or what is configured of it
 * cannot be right.
 */
type ProviderProblemKind = "unavailable" | "refused" | "invalid" | "misconfigured";

/** The message is for the server's log and for whoever configures the provider. */
export class ProviderProblem extends Error {
  readonly kind: ProviderProblemKind;
  /** The error code of OAuth with which a provider refused. */
  readonly oauthCode: string | undefined;
  /** Whether the server does not connect to where the provider is. */
  readonly isBlocked: boolean;

  constructor(
    kind: ProviderProblemKind,
    message: string,
    options: { cause?: unknown; oauthCode?: string; isBlocked?: boolean } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "ProviderProblem";
    this.kind = kind;
    this.oauthCode = options.oauthCode;
    this.isBlocked = options.isBlocked ?? false;
  }

  /** Judges what the OpenID library or the outbound guard threw. */
  static from(error: unknown): ProviderProblem {
    if (error instanceof ProviderProblem) return error;
    const outbound = causesOf(error).find((cause) => cause instanceof OutboundError);
    if (outbound instanceof OutboundError) {
      const isBlocked = outbound.failure === "blocked";
      return new ProviderProblem("unavailable", outbound.message, { cause: error, isBlocked });
    }
    if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
      const oauthCode = /^[a-z_]{1,64}$/.test(error.error) ? error.error : "unknown";
      return new ProviderProblem("refused", `the provider refused: ${oauthCode}`, {
        cause: error,
        oauthCode,
      });
    }
    if (error instanceof WWWAuthenticateChallengeError)
      return new ProviderProblem("refused", "the provider refused a credential", { cause: error });
    if (error instanceof Error)
      return new ProviderProblem("invalid", `the provider's answer is not acceptable: ${error.message}`, {
        cause: error,
      });
    throw error;
  }

  toApiError(): ApiError {
    switch (this.kind) {
      case "unavailable":
      case "misconfigured":
        return new ApiError("PROVIDER_UNAVAILABLE", "The identity provider cannot be used at the moment.", {
          retryAfterSeconds: PROVIDER_RETRY_AFTER_SECONDS,
          cause: this,
        });
      case "refused":
        return new ApiError(
          "PROVIDER_REFUSED",
          this.oauthCode === undefined
            ? "The identity provider refused the sign-in."
            : `The identity provider refused the sign-in (${this.oauthCode}).`,
          { cause: this },
        );
      case "invalid":
        return new ApiError(
          "PROVIDER_ANSWER_INVALID",
          "The identity provider's answer does not prove who you are.",
          { cause: this },
        );
    }
  }
}

const CAUSES_MAX = 8;

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause instanceof Error && causes.length < CAUSES_MAX; cause = cause.cause)
    causes.push(cause);
  return causes;
}

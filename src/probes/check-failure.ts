import { OutboundError, type UnreachableReason } from "../outbound/outbound-error.ts";
import type { CheckError, CheckStatus } from "./check.ts";

/** Why a check is not `up`. Thrown by the checks, and by nothing else. */
export class CheckFailure extends Error {
  readonly error: CheckError;
  readonly status: Exclude<CheckStatus, "up">;

  constructor(error: CheckError, options: { status?: Exclude<CheckStatus, "up">; cause?: unknown } = {}) {
    super(error, { cause: options.cause });
    this.name = "CheckFailure";
    this.error = error;
    this.status = options.status ?? "down";
  }

  /** What a failed connection or request means for a check; null for an error that no target can cause. */
  static from(error: unknown): CheckFailure | null {
    if (error instanceof CheckFailure) return error;
    if (!(error instanceof OutboundError)) return null;
    const { failure, reason } = error;
    const found = failure === "unreachable" && reason !== null ? REASONS[reason] : FAILURES[failure];
    return new CheckFailure(found, { cause: error });
  }
}

const FAILURES: Readonly<Record<OutboundError["failure"], CheckError>> = {
  blocked: "target_blocked",
  unresolved: "name_not_resolved",
  unreachable: "unreachable",
  timeout: "timeout",
  "too-large": "body_too_large",
  "too-many-redirects": "too_many_redirects",
};

const REASONS: Readonly<Record<UnreachableReason, CheckError>> = {
  refused: "connection_refused",
  reset: "connection_reset",
  "bad-response": "bad_response",
  tls: "tls_failed",
  expired: "certificate_expired",
  "not-yet-valid": "certificate_not_yet_valid",
  "wrong-name": "certificate_wrong_name",
  "self-signed": "certificate_self_signed",
  untrusted: "certificate_untrusted",
};

export function certificateFailure(problem: keyof typeof REASONS): CheckFailure {
  return new CheckFailure(REASONS[problem]);
}

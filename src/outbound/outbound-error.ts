import type { CertificateProblem } from "./certificate.ts";

/**
 * Why a request to somebody else's server came to nothing: it may not be sent there, its name has no address, nobody
 * answers, the answer takes too long, is too large, or leads on too often.
 */
type OutboundFailure =
  | "blocked"
  | "unresolved"
  | "unreachable"
  | "timeout"
  | "too-large"
  | "too-many-redirects";

/** What more is known of a host that cannot be reached; nothing where there is no way to it. */
export type UnreachableReason = "refused" | "reset" | "bad-response" | "tls" | CertificateProblem;

/** The message names no address, so that it may be shown to who chose the URL. */
export class OutboundError extends Error {
  readonly failure: OutboundFailure;
  readonly reason: UnreachableReason | null;

  constructor(failure: OutboundFailure, options: { cause?: unknown; reason?: UnreachableReason } = {}) {
    super(MESSAGES[failure], { cause: options.cause });
    this.name = "OutboundError";
    this.failure = failure;
    this.reason = options.reason ?? null;
  }
}

const MESSAGES: Readonly<Record<OutboundFailure, string>> = {
  blocked: "The server does not connect to this address.",
  unresolved: "The host name has no address.",
  unreachable: "The host cannot be reached.",
  timeout: "The host did not answer in time.",
  "too-large": "The answer is too large.",
  "too-many-redirects": "The host redirects too often.",
};

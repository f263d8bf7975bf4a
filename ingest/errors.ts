/** The kinds of problem a refused request can have; the same words as in the API's answers. */
export type IngestIssueCode =
  | "invalid_type"
  | "unrecognized_keys"
  | "invalid_literal"
  | "too_small"
  | "too_big"
  | "invalid_string"
  | "custom";

export interface IngestIssue {
  /** JSON pointer into the request's body. */
  path: string;
  code: IngestIssueCode;
  message: string;
}

/** The request is not what the format asks for; nothing of it was stored. Carries at most `ISSUES_MAX_COUNT` issues. */
export class IngestRejectedError extends Error {
  readonly issues: readonly IngestIssue[];

  constructor(message: string, issues: readonly IngestIssue[]) {
    super(message);
    this.name = "IngestRejectedError";
    this.issues = issues;
  }
}

/** The pipeline cannot take the request now; nothing of it was stored and the same request may succeed later. */
export class IngestUnavailableError extends Error {
  readonly reason: "log_full" | "no_instance" | "in_flight" | "duplicates_full" | "write_failed" | "closing";
  readonly retryAfterSeconds: number;

  constructor(
    reason: IngestUnavailableError["reason"],
    message: string,
    retryAfterSeconds: number,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = "IngestUnavailableError";
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The request names itself as an earlier one with other content did; nothing of it was stored. */
export class IngestKeyReusedError extends Error {
  constructor() {
    super("the key belongs to another request");
    this.name = "IngestKeyReusedError";
  }
}

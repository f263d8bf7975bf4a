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

/** Why a request is not taken now, and after how many seconds it is worth another try: some end within milliseconds. */
const RETRY_AFTER_SECONDS = {
  // It empties at the speed of the store, which is what was too slow.
  log_full: 5,
  no_instance: 5,
  in_flight: 1,
  duplicates_full: 5,
  rules_unknown: 5,
  write_failed: 5,
  closing: 1,
} as const;

/** The pipeline cannot take the request now; nothing of it was stored and the same request may succeed later. */
export class IngestUnavailableError extends Error {
  readonly reason: keyof typeof RETRY_AFTER_SECONDS;
  readonly retryAfterSeconds: number;

  constructor(reason: IngestUnavailableError["reason"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "IngestUnavailableError";
    this.reason = reason;
    this.retryAfterSeconds = RETRY_AFTER_SECONDS[reason];
  }
}

/** The request names itself as an earlier one with other content did; nothing of it was stored. */
export class IngestKeyReusedError extends Error {
  constructor() {
    super("the key belongs to another request");
    this.name = "IngestKeyReusedError";
  }
}

/** The request has more records than are decoded where others wait; nothing of it is stored, and it is to be decoded elsewhere. */
export class ManyRecordsError extends Error {}

export function tooBig(message: string): IngestRejectedError {
  return new IngestRejectedError(message, [{ path: "", code: "too_big", message }]);
}

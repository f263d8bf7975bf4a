import type { Diagnostic } from "../query/index.ts";

/**
 * The registry of error codes. A code is never repurposed and never removed; clients branch on it.
 * `status` is the HTTP status it travels with, `summary` what docs/errors.md and the OpenAPI document say.
 */
export const ERROR_CODES = {
  VALIDATION_FAILED: {
    status: 400,
    summary: "The body or the parameters violate the schema; `fields` lists each issue.",
  },
  LINK_INVALID: {
    status: 400,
    summary: "The token of a mailed link is unknown, expired or used; ask for a new link.",
  },
  INVITE_INVALID: {
    status: 400,
    summary:
      "The invite is unknown, expired, taken back, used, or meant for another email address than the caller's.",
  },
  ALERT_URL_BLOCKED: {
    status: 400,
    summary: "The server sends no alerts to this URL, for it leads to this machine or its network.",
  },
  TARGET_BLOCKED: {
    status: 400,
    summary: "A monitor may not watch this address; the message names the setting that opens it.",
  },
  UNAUTHENTICATED: { status: 401, summary: "No credential, or one that is unknown, expired or revoked." },
  PAGE_LOCKED: { status: 401, summary: "The status page has a password; unlock it first." },
  INVALID_CREDENTIALS: { status: 401, summary: "The email, the password or the one-time code is wrong." },
  MFA_REQUIRED: {
    status: 401,
    summary: "The password is right; the account asks for a one-time code besides, in `totp`.",
  },
  FORBIDDEN: {
    status: 403,
    summary: "The role in the organisation does not allow this, or the request's origin is foreign.",
  },
  PAT_SCOPE_INSUFFICIENT: { status: 403, summary: "The token lacks the required scope." },
  PAT_DAILY_LIMIT_EXCEEDED: {
    status: 429,
    summary:
      "A daily cap of the token is used up; it starts anew at midnight UTC, after `Retry-After` seconds.",
  },
  PLAN_LIMIT_MONITORS: {
    status: 409,
    summary: "The organisation's plan allows no more monitors.",
  },
  PLAN_LIMIT_LOG_BYTES: {
    status: 429,
    summary: "The organisation's plan allows no more logs this month.",
  },
  SIGN_IN_EXPIRED: {
    status: 400,
    summary: "The sign-in is unknown, over, used already, or was begun in another browser; begin again.",
  },
  PROVIDER_ANSWER_INVALID: {
    status: 400,
    summary: "What the identity provider answered does not prove who the person is.",
  },
  SIGNATURE_INVALID: {
    status: 403,
    summary: "The request must be signed with the configured secret, and is not or wrongly.",
  },
  EMAIL_NOT_VERIFIED: { status: 403, summary: "The email address has not been verified." },
  PROVIDER_REFUSED: { status: 403, summary: "The identity provider refused the sign-in." },
  IDENTITY_NOT_LINKED: {
    status: 403,
    summary:
      "An account with this email exists and is not linked to the provider; sign in to it and link the provider there.",
  },
  SSO_REQUIRED: {
    status: 403,
    summary: "The organisation lets its members sign in through its own identity provider only.",
  },
  SSO_NOT_ADMITTED: {
    status: 403,
    summary:
      "The person is no member of the organisation, and their email is of none of its verified domains.",
  },
  DOMAIN_NOT_VERIFIED: {
    status: 409,
    summary: "The DNS record that shows whose the domain is was not found.",
  },
  PROVIDER_UNAVAILABLE: {
    status: 503,
    summary: "The identity provider does not answer; try again after `Retry-After` seconds.",
  },
  NOT_FOUND: { status: 404, summary: "No such resource in this organisation." },
  METHOD_NOT_ALLOWED: {
    status: 405,
    summary: "The path exists, the method does not; `Allow` lists those that do.",
  },
  REQUEST_TIMEOUT: { status: 408, summary: "The body arrived too slowly or not within its time limit." },
  CONFLICT: { status: 409, summary: "The request contradicts the present state." },
  PLAN_STALE: {
    status: 409,
    summary: "What the plan was made of has changed since; make another one and look at it.",
  },
  SOURCE_DISABLED: {
    status: 409,
    summary: "The ingest source is disabled and takes no records until it is made active again.",
  },
  IDEMPOTENCY_KEY_TOO_LONG: {
    status: 400,
    summary: "The `Idempotency-Key` has more than 255 characters.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    summary: "The `Idempotency-Key` belongs to a request with another method, path or body.",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    summary:
      "A request with this `Idempotency-Key` is being executed; ask again after `Retry-After` seconds.",
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    summary: "The body, packed or unpacked, is larger than the route accepts.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    summary: "The content type or content encoding is not accepted here.",
  },
  TAIL_LIMIT_REACHED: {
    status: 429,
    summary:
      "The organisation or the person has too many live tail sessions or streams, or the session too many streams.",
  },
  RATE_LIMITED: {
    status: 429,
    summary:
      "Too many requests in a minute, more than the caller's share at once, or too much of its answers waits to be read; wait for `Retry-After` seconds.",
  },
  QUERY_TOO_EXPENSIVE: { status: 400, summary: "The query would read or return more than the limits allow." },
  KQL_INVALID: {
    status: 400,
    summary: "The KQL text is wrong; `fields` says what and where: line, column, offsets and what was meant.",
  },
  INTERNAL: { status: 500, summary: "A fault of the server, recorded under the request id." },
  UNAVAILABLE: { status: 503, summary: "A store is unreachable or full; retry after `Retry-After` seconds." },
  QUERY_TIMEOUT: { status: 504, summary: "The query did not end within its time limit." },
} as const satisfies Record<string, { status: number; summary: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The issue codes of `fields[].code`, and what docs/errors.md says of each. */
export const FIELD_ISSUE_CODES = {
  invalid_type: "Another JSON type is expected, or the field is missing.",
  unrecognized_keys: "The field or parameter is not known here.",
  invalid_literal: "The value is not one of those allowed.",
  too_small: "Below the minimum, too short or too few.",
  too_big: "Above the maximum, too long or too many.",
  invalid_string: "The text does not have the expected form.",
  invalid_union: "The value has none of the accepted forms.",
  custom: "Another rule; the message says which.",
} as const;
export type FieldIssueCode = keyof typeof FIELD_ISSUE_CODES;

type QueryIssueCode = Diagnostic["code"];

/** Those of problems of a KQL text: the compiler's own. */
export const QUERY_ISSUE_CODES: Readonly<Record<QueryIssueCode, string>> = {
  SYNTAX: "The text is not KQL at this place.",
  UNKNOWN_NAME: "There is no column, parameter or variable of this name.",
  UNKNOWN_FUNCTION: "KQL has no function of this name.",
  UNKNOWN_OPERATOR: "KQL has no operator of this name.",
  UNKNOWN_TABLE: "There is no table of this name; the logs are `logs`.",
  UNSUPPORTED: "KQL has it, and it is not supported here.",
  WRONG_TYPE: "The value has another type than its place takes.",
  WRONG_ARGUMENTS: "The function takes other arguments.",
  NOT_A_CONSTANT: "A constant belongs here.",
  NOT_TABULAR: "A table belongs here, or a single value.",
  DUPLICATE_NAME: "The name is taken.",
  TOO_COMPLEX: "The query is larger or deeper than the compiler takes.",
  TEXT_TOO_LONG: "The text is longer than a query may be.",
};

/** One problem of a request. `path` is a JSON pointer into the body, or `/name` of a query parameter. */
export interface FieldIssue {
  path: string;
  code: FieldIssueCode | QueryIssueCode;
  message: string;
}

/** One problem of a KQL text and its place in it. */
export interface QueryIssue extends FieldIssue {
  readonly code: QueryIssueCode;
  /** From 1; the column in UTF-16 units. */
  readonly line: number;
  readonly column: number;
  /** UTF-16 offsets in the text. */
  readonly start: number;
  readonly end: number;
  /** What stands there, and what was probably meant. */
  readonly text: string;
  readonly suggestion: string | null;
}

interface ApiErrorOptions {
  /** At most 100 issues; only with VALIDATION_FAILED and KQL_INVALID. */
  fields?: readonly (FieldIssue | QueryIssue)[];
  /** Seconds for the `Retry-After` header. */
  retryAfterSeconds?: number;
  /** Further headers, for example `Allow`. */
  headers?: Readonly<Record<string, string>>;
  /** What happened inside; goes to the log, never to the client. */
  cause?: unknown;
}

/** An error whose code and message are meant for the client. Everything else that is thrown becomes INTERNAL. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly fields: readonly FieldIssue[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = "ApiError";
    this.code = code;
    this.status = ERROR_CODES[code].status;
    this.fields = options.fields;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers ?? {};
  }
}

/** A store or another dependency failed. `retryable` says whether the same call may succeed later; the text is internal. */
export class DependencyError extends Error {
  readonly dependency: string;
  readonly retryable: boolean;

  constructor(dependency: string, message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = "DependencyError";
    this.dependency = dependency;
    this.retryable = options.retryable;
  }
}

/** Issues reported in one answer; more help nobody and grow the answer with the attacker's input. */
export const MAX_FIELD_ISSUES = 100;

/** The error of a request that violates its schema, for what the schema says and for what it cannot say. */
export function validationFailed(
  issues: readonly FieldIssue[],
  message = "The request is not valid; see fields.",
  cause?: unknown,
): ApiError {
  return new ApiError("VALIDATION_FAILED", message, { fields: issues.slice(0, MAX_FIELD_ISSUES), cause });
}

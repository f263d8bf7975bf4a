import { ApiError, DependencyError, type ErrorCode, type FieldIssue } from "../errors.ts";
import { UNAVAILABLE_RETRY_SEC } from "./limits.ts";

/** What every answer that is not 2xx carries. */
export interface ErrorBody {
  error: string;
  code: ErrorCode;
  fields?: readonly FieldIssue[];
  requestId: string;
}

/**
 * What a client is told about whatever was thrown: ApiError as it stands, a dependency that may recover as
 * UNAVAILABLE, everything else as INTERNAL, whose cause only the log gets.
 */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof DependencyError && thrown.retryable) {
    return new ApiError("UNAVAILABLE", "A part of the service is not available now.", { cause: thrown });
  }
  return new ApiError("INTERNAL", "An internal error occurred.", { cause: thrown });
}

export function errorBody(error: ApiError, requestId: string): ErrorBody {
  return error.fields === undefined
    ? { error: error.message, code: error.code, requestId }
    : { error: error.message, code: error.code, fields: error.fields, requestId };
}

/** The headers an error asks for. 503 always says when to come back, and 401 with what. */
export function errorHeaders(error: ApiError): Record<string, string> {
  const headers: Record<string, string> = { ...error.headers };
  const retryAfterSec = error.retryAfterSeconds ?? (error.status === 503 ? UNAVAILABLE_RETRY_SEC : undefined);
  if (retryAfterSec !== undefined) headers["retry-after"] = String(retryAfterSec);
  if (error.code === "UNAUTHENTICATED") headers["www-authenticate"] = "Bearer";
  return headers;
}

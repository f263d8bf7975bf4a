import { IngestKeyReusedError, IngestRejectedError, IngestUnavailableError } from "../../ingest/index.ts";
import { ApiError, validationFailed } from "../errors.ts";

/** Turns the ingest library's refusals into answers. */
export function throwForClient(error: unknown): never {
  if (error instanceof IngestRejectedError)
    throw validationFailed(error.issues, `${error.message}; nothing was stored`);
  if (error instanceof IngestKeyReusedError)
    throw new ApiError(
      "IDEMPOTENCY_KEY_REUSED",
      "The Idempotency-Key belongs to a request with another body.",
    );
  if (error instanceof IngestUnavailableError)
    throw new ApiError("UNAVAILABLE", error.message, {
      retryAfterSeconds: error.retryAfterSeconds,
      cause: error,
    });
  throw error;
}

import type { ApiError } from "../../../../errors.ts";
import { ERROR_MESSAGE_MAX_CHARS } from "./limits.ts";

export const DELIVERY_ID_HEADER = "x-amz-firehose-request-id";

/** The only answer that a delivery stream takes for a success, with status 200. `timestamp` in milliseconds. */
interface DeliveryAnswer {
  readonly requestId: string;
  readonly timestamp: number;
}

export function deliveryAnswer(requestId: string, nowMs: number): DeliveryAnswer {
  return { requestId, timestamp: nowMs };
}

/**
 * What a refusal says to a delivery stream: without its own request id it takes no answer for one. The members join the
 * error envelope, whose own request id is in a header as well. Nothing for other senders.
 */
export function deliveryRefusal(
  request: Request,
  error: ApiError,
  nowMs: number,
): Readonly<Record<string, unknown>> {
  const requestId = request.headers.get(DELIVERY_ID_HEADER);
  if (requestId === null) return {};
  return {
    ...deliveryAnswer(requestId, nowMs),
    errorMessage: error.message.slice(0, ERROR_MESSAGE_MAX_CHARS),
  };
}

import type { ApiError } from "../../../../errors.ts";
import type { Reply } from "../../../../http/route.ts";

/** What a collector says of a request: a text, and the number that Splunk's documentation gives it. */
interface CollectorStatus {
  readonly text: string;
  readonly number: number;
}

const TOKEN_REQUIRED: CollectorStatus = { text: "Token is required", number: 2 };
const INVALID_AUTHORIZATION: CollectorStatus = { text: "Invalid authorization", number: 3 };
const INVALID_TOKEN: CollectorStatus = { text: "Invalid token", number: 4 };
const NO_DATA: CollectorStatus = { text: "No data", number: 5 };
const INVALID_DATA: CollectorStatus = { text: "Invalid data format", number: 6 };
const INTERNAL: CollectorStatus = { text: "Internal server error", number: 8 };
const BUSY: CollectorStatus = { text: "Server is busy", number: 9 };

/** Ids of acknowledgements are integers that JSON carries exactly; so many that two of them never meet. */
const ACK_ID_BITS = 48;

/**
 * The answer to events that are durable. A sender that names its channel may ask later whether they are indexed, by the id
 * it gets here; as they are durable already, every id is good.
 */
export function success(request: Request): Reply {
  const channel =
    request.headers.get("x-splunk-request-channel") ?? new URL(request.url).searchParams.get("channel");
  const body = { text: "Success", code: 0 };
  return { status: 200, body: channel === null ? body : { ...body, ackId: randomAckId() } };
}

/**
 * What a refusal says besides our envelope. The member `code` is that of the envelope, a text, wherever the API
 * refuses; the collector's number is `hecCode`.
 */
export function refusal(request: Request, error: ApiError): Readonly<Record<string, unknown>> {
  const { text, number } = statusOf(request, error);
  const event = /^\/(\d+)/.exec(error.fields?.[0]?.path ?? "")?.[1];
  return {
    text,
    hecCode: number,
    ...(number === INVALID_DATA.number && { "invalid-event-number": Number(event ?? 0) }),
  };
}

function statusOf(request: Request, error: ApiError): CollectorStatus {
  switch (error.status) {
    case 401: {
      const header = request.headers.get("authorization") ?? "";
      if (header === "") return TOKEN_REQUIRED;
      return /^(?:splunk|basic|bearer) +\S/i.test(header) ? INVALID_TOKEN : INVALID_AUTHORIZATION;
    }
    case 403:
      return INVALID_TOKEN;
    case 429:
    case 503:
      return BUSY;
    default:
      if (error.status >= 500) return INTERNAL;
      return error.fields?.[0]?.code === "too_small" ? NO_DATA : INVALID_DATA;
  }
}

function randomAckId(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** (ACK_ID_BITS - 32)) * 2 ** 32 + low;
}

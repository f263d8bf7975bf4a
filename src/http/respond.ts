import type { MemoryShare } from "../concurrency/memory-share.ts";
import type { ApiError } from "../errors.ts";
import { bodyOf } from "./answer-stream.ts";
import type { EncodedBody } from "./encoded-body.ts";
import { errorBody, errorHeaders } from "./envelope.ts";
import { WHOLE_ANSWER_MAX_BYTES } from "./limits.ts";
import {
  addResponseHeaders,
  plainJsonResponse,
  type ResponseHead,
  responseHeaders,
} from "./response-headers.ts";
import type { Reply } from "./route.ts";

/** A finished response and how many bytes its body has; null for a stream. */
export interface Finished {
  readonly response: Response;
  readonly bytes: number | null;
}

/**
 * Makes the response of what a handler returned. For HEAD the body is left out and its length is kept where it is known. Throws
 * RATE_LIMITED and UNAVAILABLE for a large body when too much waits for its readers already.
 */
export function respond(
  result: Reply | Response,
  head: ResponseHead,
  isHead: boolean,
  exchange: { readonly answerMemory: MemoryShare },
): Finished {
  if (result instanceof Response) return respondWith(result, head, isHead);
  const { prepared } = result;
  if (prepared !== undefined) return { response: prepared.responseTo(head, isHead), bytes: prepared.bytes };
  if (result.encoded !== undefined)
    return encodedResponse(result.status, result.encoded, responseHeaders(head, result.headers), isHead);
  if (result.body === undefined) {
    const headers = responseHeaders(head, result.headers);
    return { response: new Response(null, { status: result.status, headers }), bytes: 0 };
  }
  const text = JSON.stringify(result.body);
  const bytes = Buffer.byteLength(text);
  if (bytes > WHOLE_ANSWER_MAX_BYTES && !isHead) return largeJson(result, text, head, exchange.answerMemory);
  if (result.headers === undefined && !isHead)
    return { response: plainJsonResponse(result.status, text, head), bytes };
  return json(result.status, text, responseHeaders(head, result.headers), isHead);
}

/** What a route says of its refusals. */
interface OwnRefusal {
  /** Besides the envelope. */
  readonly members?: Readonly<Record<string, unknown>> | undefined;
  /** Instead of it. */
  readonly encoded?: EncodedBody | null;
}

/** Makes the response of a failed request: the one error envelope, and what its route says besides or instead. */
export function respondError(
  error: ApiError,
  head: ResponseHead,
  isHead: boolean,
  { members, encoded = null }: OwnRefusal = {},
): Finished {
  const headers = responseHeaders(head, errorHeaders(error));
  if (encoded !== null) return encodedResponse(error.status, encoded, headers, isHead);
  const text = JSON.stringify({ ...errorBody(error, head.requestId), ...members });
  return json(error.status, text, headers, isHead);
}

function encodedResponse(
  status: number,
  { bytes, contentType }: EncodedBody,
  headers: Record<string, string>,
  isHead: boolean,
): Finished {
  headers["content-type"] = contentType;
  if (isHead) headers["content-length"] = String(bytes.length);
  return { response: new Response(isHead ? null : bytes, { status, headers }), bytes: bytes.length };
}

function json(status: number, text: string, headers: Record<string, string>, isHead: boolean): Finished {
  const bytes = Buffer.byteLength(text);
  headers["content-type"] ??= "application/json";
  if (isHead) headers["content-length"] = String(bytes);
  return { response: new Response(isHead ? null : text, { status, headers }), bytes };
}

/** What a slow reader leaves waiting of it counts, and is given up when it takes too long. */
function largeJson(
  { status, headers }: Reply,
  text: string,
  head: ResponseHead,
  memory: MemoryShare,
): Finished {
  const bytes = Buffer.from(text);
  memory.take(bytes.length);
  const own = responseHeaders(head, headers);
  own["content-type"] ??= "application/json";
  return { response: new Response(bodyOf(bytes, memory), { status, headers: own }), bytes: bytes.length };
}

function respondWith(made: Response, head: ResponseHead, isHead: boolean): Finished {
  if (!isHead) {
    addResponseHeaders(made, head);
    return { response: made, bytes: null };
  }
  // Nobody will read it, so whatever feeds it has to hear that now; how it fails then concerns nobody either.
  made.body?.cancel().catch(() => undefined);
  const response = new Response(null, { status: made.status, headers: made.headers });
  addResponseHeaders(response, head);
  return { response, bytes: 0 };
}

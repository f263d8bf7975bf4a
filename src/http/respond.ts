import type { ApiError } from "../errors.ts";
import { errorBody, errorHeaders } from "./envelope.ts";
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

/** Makes the response of what a handler returned. For HEAD the body is left out and its length is kept. */
export function respond(result: Reply | Response, head: ResponseHead, isHead: boolean): Finished {
  if (result instanceof Response) return respondWith(result, head, isHead);
  if (result.body === undefined) {
    const headers = responseHeaders(head, result.headers);
    return { response: new Response(null, { status: result.status, headers }), bytes: 0 };
  }
  if (result.headers === undefined && !isHead) {
    const text = JSON.stringify(result.body);
    return { response: plainJsonResponse(result.status, text, head), bytes: Buffer.byteLength(text) };
  }
  return json(result.status, result.body, responseHeaders(head, result.headers), isHead);
}

/** Makes the response of a failed request: the one error envelope, and what its route says besides. */
export function respondError(
  error: ApiError,
  head: ResponseHead,
  isHead: boolean,
  members?: Readonly<Record<string, unknown>>,
): Finished {
  const headers = responseHeaders(head, errorHeaders(error));
  return json(error.status, { ...errorBody(error, head.requestId), ...members }, headers, isHead);
}

function json(status: number, body: unknown, headers: Record<string, string>, isHead: boolean): Finished {
  const text = JSON.stringify(body);
  const bytes = Buffer.byteLength(text);
  headers["content-type"] ??= "application/json";
  if (isHead) headers["content-length"] = String(bytes);
  return { response: new Response(isHead ? null : text, { status, headers }), bytes };
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

import type { RateDecision } from "./rate-limit/rate-limiter.ts";

/** Nothing this server answers is a page or part of one, except where a handler says so. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const STRICT_TRANSPORT_SECURITY = "max-age=31536000";

const CONSTANT_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

/** The same for JSON, of which each response takes a copy: setting a few headers more is faster than a dozen anew. */
const JSON_HEADERS = new Headers({ ...CONSTANT_HEADERS, "content-type": "application/json" });

/** What the plumbing says in the headers of every response. */
export interface ResponseHead {
  readonly requestId: string;
  readonly rate: RateDecision;
  /** Whether the server is reached over https, which browsers are then told to insist on. */
  readonly isHttps: boolean;
  /** Whether the connection is closed after the answer. */
  readonly closes: boolean;
}

/** The headers of a response, in lower case: those of every response, and the handler's `own`, which stand. */
export function responseHeaders(
  head: ResponseHead,
  own: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  const { rate } = head;
  const headers: Record<string, string> = {
    ...CONSTANT_HEADERS,
    "x-request-id": head.requestId,
    "x-ratelimit-limit": String(rate.limit),
    "x-ratelimit-remaining": String(rate.remaining),
    "x-ratelimit-reset": String(rate.resetAtSec),
  };
  if (head.isHttps) headers["strict-transport-security"] = STRICT_TRANSPORT_SECURITY;
  if (head.closes) headers.connection = "close";
  if (own !== undefined) for (const [name, value] of Object.entries(own)) headers[name.toLowerCase()] = value;
  return headers;
}

/** Makes a JSON response whose handler adds no headers of its own, which is the most frequent one. */
export function plainJsonResponse(status: number, text: string, head: ResponseHead): Response {
  const response = new Response(text, { status, headers: JSON_HEADERS });
  setHeadOf(response.headers, head);
  return response;
}

/** The headers of an answer that is sent again and again, but for what `setHeadOf` says of each. */
export function preparedHeaders(own: Readonly<Record<string, string>>): Headers {
  const headers = new Headers(CONSTANT_HEADERS);
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  return headers;
}

/** Says of one response what is its own, in the headers it has taken of others. */
export function setHeadOf(headers: Headers, head: ResponseHead): void {
  const { rate } = head;
  headers.set("x-request-id", head.requestId);
  headers.set("x-ratelimit-limit", String(rate.limit));
  headers.set("x-ratelimit-remaining", String(rate.remaining));
  headers.set("x-ratelimit-reset", String(rate.resetAtSec));
  if (head.isHttps) headers.set("strict-transport-security", STRICT_TRANSPORT_SECURITY);
  if (head.closes) headers.set("connection", "close");
}

/** Adds the headers of every response to one a handler made; what it says itself stands. */
export function addResponseHeaders(response: Response, head: ResponseHead): void {
  for (const [name, value] of Object.entries(responseHeaders(head, undefined))) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
}

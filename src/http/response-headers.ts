import type { RateDecision } from "./rate-limit/rate-limiter.ts";

/** Sent with every response; a handler may say something else about caching and content policy. */
const DEFAULTS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

const FIXED: Readonly<Record<string, string>> = {
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** What the plumbing says in the headers of every response. */
export interface ResponseHead {
  readonly requestId: string;
  readonly rate: RateDecision;
  /** Whether the server is reached over https, which browsers are then told to insist on. */
  readonly isHttps: boolean;
}

/** The headers of a response that the plumbing makes, those of the handler included, all in lower case. */
export function responseHeaders(
  head: ResponseHead,
  own: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  const headers: Record<string, string> = { ...DEFAULTS };
  if (own !== undefined) for (const name in own) headers[name.toLowerCase()] = own[name] ?? "";
  return Object.assign(headers, FIXED, perRequest(head));
}

/** Adds the headers of every response to one a handler made; what it says about caching and content policy stands. */
export function decorate(response: Response, head: ResponseHead): void {
  for (const [name, value] of Object.entries(DEFAULTS)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  for (const [name, value] of Object.entries(FIXED)) response.headers.set(name, value);
  for (const [name, value] of Object.entries(perRequest(head))) response.headers.set(name, value);
}

function perRequest(head: ResponseHead): Record<string, string> {
  const headers: Record<string, string> = {
    "x-request-id": head.requestId,
    "x-ratelimit-limit": String(head.rate.limit),
    "x-ratelimit-remaining": String(head.rate.remaining),
    "x-ratelimit-reset": String(head.rate.resetAtSec),
  };
  if (head.isHttps) headers["strict-transport-security"] = "max-age=31536000";
  return headers;
}

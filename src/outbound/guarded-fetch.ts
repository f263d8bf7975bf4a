import { OUTBOUND_REDIRECTS_MAX, OUTBOUND_RESPONSE_MAX_BYTES, OUTBOUND_TIMEOUT_MAX_MS } from "./limits.ts";
import { OutboundError } from "./outbound-error.ts";
import type { OutboundPolicy } from "./outbound-policy.ts";
import { admitTarget, type HostResolver, resolveWithSystem } from "./outbound-target.ts";
import { type OutboundMessage, sendTo } from "./send-to.ts";

export interface GuardedRequest {
  /** GET by default. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For everything together: resolving, connecting, redirects, the whole answer. */
  readonly timeoutMs: number;
  /** Of the body of an answer. */
  readonly maxBytes: number;
  /** How often to go where an answer leads; 0 by default, which answers the redirect itself. */
  readonly maxRedirects?: number;
}

/** Sends a request and answers the whole response, with its body in memory. Throws OutboundError and nothing else. */
export type GuardedFetch = (url: string, request: GuardedRequest) => Promise<Response>;

/**
 * Makes the one way to send requests to URLs that people of an organisation have chosen. The policy is asked for every
 * address of every hop, and what is connected to is what was asked for. Answers are not unpacked.
 */
export function createGuardedFetch(
  policy: OutboundPolicy,
  resolve: HostResolver = resolveWithSystem,
): GuardedFetch {
  return async (url, request) => {
    const timeoutMs = Math.min(request.timeoutMs, OUTBOUND_TIMEOUT_MAX_MS);
    const abort = new AbortController();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(new OutboundError("timeout"));
      abort.abort();
    }, timeoutMs);
    try {
      // Resolving a name cannot be aborted, so the race ends the wait for it.
      return await Promise.race([follow(url, request, policy, resolve, abort.signal), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}

async function follow(
  firstUrl: string,
  request: GuardedRequest,
  policy: OutboundPolicy,
  resolve: HostResolver,
  signal: AbortSignal,
): Promise<Response> {
  const redirects = Math.min(request.maxRedirects ?? 0, OUTBOUND_REDIRECTS_MAX);
  const maxBytes = Math.min(request.maxBytes, OUTBOUND_RESPONSE_MAX_BYTES);
  let url = parseUrl(firstUrl);
  let message: OutboundMessage = {
    method: request.method ?? "GET",
    headers: request.headers ?? {},
    body: request.body,
  };
  for (let hop = 0; ; hop += 1) {
    const target = await admitTarget(url, policy, resolve);
    const response = await sendTo(target, message, { maxBytes, signal });
    const location = response.headers.get("location");
    if (redirects === 0 || location === null || !isRedirect(response.status)) return response;
    if (hop === redirects) throw new OutboundError("too-many-redirects");
    const next = parseUrl(location, url);
    message = redirected(message, response.status, next.origin === url.origin);
    url = next;
  }
}

function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null) throw new OutboundError("blocked");
  return url;
}

function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** What belongs to the sender's relation with one origin, and what describes a body that is not sent on. */
const CREDENTIAL_HEADERS = ["authorization", "cookie", "proxy-authorization"];
const BODY_HEADERS = ["content-type", "content-length", "content-encoding"];

/** The message as it is sent on, as browsers do it. */
function redirected(message: OutboundMessage, status: number, sameOrigin: boolean): OutboundMessage {
  const { method } = message;
  const becomesGet = status === 303 ? method !== "HEAD" : status < 303 && method === "POST";
  const dropped = [...(sameOrigin ? [] : CREDENTIAL_HEADERS), ...(becomesGet ? BODY_HEADERS : [])];
  return {
    method: becomesGet ? "GET" : method,
    headers: Object.fromEntries(
      Object.entries(message.headers).filter(([name]) => !dropped.includes(name.toLowerCase())),
    ),
    body: becomesGet ? undefined : message.body,
  };
}

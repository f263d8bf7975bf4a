import { Connector } from "./connector.ts";
import { exchange } from "./exchange.ts";
import { follow } from "./follow.ts";
import { OUTBOUND_REDIRECTS_MAX, OUTBOUND_RESPONSE_MAX_BYTES, OUTBOUND_TIMEOUT_MAX_MS } from "./limits.ts";
import { OutboundError } from "./outbound-error.ts";
import type { OutboundPolicy } from "./outbound-policy.ts";
import { withinDeadline } from "./outbound-scope.ts";
import type { HostResolver } from "./outbound-target.ts";

export interface GuardedRequest {
  /** GET by default. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For everything together: resolving, connecting, redirects, the whole answer. */
  readonly timeoutMs: number;
  /** Of the body of an answer; a longer one is a failure. */
  readonly maxBytes: number;
  /** A longer one is answered as far as it was read, for its status is what counts. */
  readonly takesCutOff?: true;
  /** How often to go where an answer leads; 0 by default, which answers the redirect itself. */
  readonly maxRedirects?: number;
}

/** Sends a request and answers the whole response, with its body in memory. Throws OutboundError and nothing else. */
export type GuardedFetch = (url: string, request: GuardedRequest) => Promise<Response>;

/** Answers that have no body, which `Response` insists on. */
const BODILESS = new Set([204, 205, 304]);
/** What belongs to the sender's relation with one origin. */
const CREDENTIAL_HEADERS = ["authorization", "cookie", "proxy-authorization"];

/**
 * Makes the one way to send requests to URLs that people of an organisation have chosen. The policy is asked for every
 * address of every hop, and what is connected to is what was asked for. Answers are not unpacked.
 */
export function createGuardedFetch(policy: OutboundPolicy, resolve?: HostResolver): GuardedFetch {
  const connector = new Connector({ policy, ...(resolve === undefined ? {} : { resolve }) });
  return (url, request) =>
    withinDeadline(Math.min(request.timeoutMs, OUTBOUND_TIMEOUT_MAX_MS), async (scope) => {
      const maxBytes = Math.min(request.maxBytes, OUTBOUND_RESPONSE_MAX_BYTES);
      const maxRedirects = Math.min(request.maxRedirects ?? 0, OUTBOUND_REDIRECTS_MAX);
      const message = {
        method: request.method ?? "GET",
        headers: withoutHost(request.headers ?? {}),
        body: request.body,
      };
      const staysHome = (header: string): boolean => CREDENTIAL_HEADERS.includes(header);
      const answer = await follow(url, message, { maxRedirects, staysHome }, async (to, sent) => {
        const found = await exchange(connector, to, sent, { maxBytes, scope });
        if (found.isCutOff && request.takesCutOff === undefined) throw new OutboundError("too-large");
        return found;
      });
      const { status, headers, body } = answer;
      return new Response(BODILESS.has(status) ? null : body, { status, headers });
    });
}

/** The host is that of the URL, which was judged. */
function withoutHost(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== "host"));
}

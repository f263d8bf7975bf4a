import type { Answer, OutboundMessage } from "./exchange.ts";
import { OutboundError } from "./outbound-error.ts";

interface FollowOptions {
  readonly maxRedirects: number;
  /** Which headers, named in small letters, are not sent on to another origin. */
  readonly staysHome: (header: string) => boolean;
}

/**
 * Sends a message and, as often as allowed, again to where the answers lead; 0 answers a redirect itself. Throws OutboundError and
 * what `send` throws.
 */
export async function follow(
  firstUrl: string,
  firstMessage: OutboundMessage,
  { maxRedirects, staysHome }: FollowOptions,
  send: (url: URL, message: OutboundMessage) => Promise<Answer>,
): Promise<Answer> {
  let url = parseUrl(firstUrl);
  let message = firstMessage;
  for (let hop = 0; ; hop += 1) {
    const answer = await send(url, message);
    const location = answer.headers.get("location");
    if (maxRedirects === 0 || location === null || !isRedirect(answer.status)) return answer;
    if (hop === maxRedirects) throw new OutboundError("too-many-redirects");
    const next = parseUrl(location, url);
    const dropped = next.origin === url.origin ? () => false : staysHome;
    message = redirected(message, answer.status, dropped);
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

/** What describes a body that is not sent on. */
const BODY_HEADERS = ["content-type", "content-length", "content-encoding"];

/** The message as it is sent on, as browsers do it. */
export function redirected(
  message: OutboundMessage,
  status: number,
  isDropped: (header: string) => boolean,
): OutboundMessage {
  const { method } = message;
  const becomesGet = status === 303 ? method !== "HEAD" : status < 303 && method === "POST";
  const isSent = (name: string): boolean => !isDropped(name) && !(becomesGet && BODY_HEADERS.includes(name));
  return {
    method: becomesGet ? "GET" : method,
    headers: Object.fromEntries(
      Object.entries(message.headers).filter(([name]) => isSent(name.toLowerCase())),
    ),
    body: becomesGet ? undefined : message.body,
  };
}

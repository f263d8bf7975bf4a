import { MAX_REQUEST_ID_CHARS } from "./limits.ts";

const SANE = new RegExp(`^[A-Za-z0-9._-]{1,${MAX_REQUEST_ID_CHARS}}$`);

/**
 * The id under which a request is logged and answered: the caller's X-Request-Id when it is short and plain, so that a
 * request can be followed through proxies, else a random one. It names nothing else, so a repeated one does no harm.
 */
export function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && SANE.test(given) ? given : crypto.randomUUID();
}

import type { Principal } from "../access/principal.ts";
import { hashToken } from "../access/secret-token.ts";
import { SESSION_IDLE_MS } from "./limits.ts";

const COOKIE_NAME = "session";

/** How the cookie is written; it has no Domain, so it goes to exactly the host that set it. */
export interface SessionCookieOptions {
  /** True when the server is reached over https. */
  secure: boolean;
}

/** The `Set-Cookie` value that hands a session to a browser for the idle life of a session. */
export function sessionCookie(token: string, options: SessionCookieOptions): string {
  return serialise(token, SESSION_IDLE_MS / 1000, options);
}

/** The `Set-Cookie` value that makes a browser drop its session. */
export function clearedSessionCookie(options: SessionCookieOptions): string {
  return serialise("", 0, options);
}

/**
 * The distinct session cookies of a request, in the order sent. More than one means that another site under the
 * same domain has planted its own; which is genuine cannot be told.
 */
export function readSessionCookies(request: Request): string[] {
  const header = request.headers.get("cookie");
  if (header === null) return [];
  const values = new Set<string>();
  for (const pair of header.split(";")) {
    const separator = pair.indexOf("=");
    if (separator < 0 || pair.slice(0, separator).trim() !== COOKIE_NAME) continue;
    const value = pair.slice(separator + 1).trim();
    if (value.length > 0) values.add(value);
  }
  return [...values];
}

/** The hash of the session a caller comes with; null for a caller with a token. */
export function ownSessionHash({
  principal,
  request,
}: {
  principal: Principal;
  request: Request;
}): Uint8Array | null {
  const [cookie] = readSessionCookies(request);
  return principal.kind !== "session" || cookie === undefined ? null : hashToken(cookie);
}

function serialise(value: string, maxAgeSeconds: number, options: SessionCookieOptions): string {
  const attributes = [
    `${COOKIE_NAME}=${value}`,
    "Path=/",
    "HttpOnly",
    "SameSite=Lax",
    `Max-Age=${maxAgeSeconds}`,
  ];
  if (options.secure) attributes.push("Secure");
  return attributes.join("; ");
}

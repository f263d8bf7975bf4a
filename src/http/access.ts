import { type Principal, roleSatisfies, scopesSatisfy } from "../access/principal.ts";
import { ApiError } from "../errors.ts";
import type { Access } from "./route.ts";

/** Whether a caller's role and scopes reach a route. */
export function hasAccess(access: Access, principal: Principal): boolean {
  if (typeof access === "string") return true;
  return scopesSatisfy(principal.scopes, access.scope) && roleSatisfies(principal.role, access.role);
}

/** Refuses a caller whose role or scopes do not reach a route. The only place where either is judged. */
export function requireAccess(access: Access, principal: Principal | null): void {
  if (access === "public") return;
  if (principal === null) throw new ApiError("UNAUTHENTICATED", "A credential is required.");
  if (access === "authenticated") return;
  if (!scopesSatisfy(principal.scopes, access.scope)) {
    throw new ApiError("PAT_SCOPE_INSUFFICIENT", `The token lacks the scope ${access.scope}.`);
  }
  if (!roleSatisfies(principal.role, access.role)) {
    throw new ApiError("FORBIDDEN", `The role ${access.role} is required.`);
  }
}

/** Whether a caller who is known may call what needs this. */
export function mayCall({ scope, role }: Exclude<Access, string>, principal: Principal): boolean {
  return scopesSatisfy(principal.scopes, scope) && roleSatisfies(principal.role, role);
}

/** Judges whether a state-changing request that rides on a cookie was sent by a page of our own. */
export type OriginGuard = (request: Request, principal: Principal | null) => void;

/**
 * Makes the guard against forged requests (CSRF). Such a request needs an `Origin` equal to that of `publicUrl`; as
 * long as that is plain http, the origin the request was sent to will do as well, because a server on a laptop is
 * reached under several names. Requests with an `Authorization` header carry nothing a browser adds by itself.
 */
export function originGuard(publicUrl: string): OriginGuard {
  const publicOrigin = new URL(publicUrl).origin;
  const isPlain = publicOrigin.startsWith("http:");
  return (request, principal) => {
    if (request.method === "GET" || request.method === "HEAD" || !ridesOnCookie(request, principal)) return;
    const origin = request.headers.get("origin");
    if (origin === publicOrigin || (isPlain && origin !== null && origin === new URL(request.url).origin))
      return;
    throw new ApiError("FORBIDDEN", "A call that uses the session cookie needs the Origin of this server.");
  };
}

function ridesOnCookie(request: Request, principal: Principal | null): boolean {
  if (principal !== null) return principal.kind === "session";
  const cookies = request.headers.get("cookie");
  return (
    cookies !== null && /(?:^|;\s*)session=/.test(cookies) && request.headers.get("authorization") === null
  );
}

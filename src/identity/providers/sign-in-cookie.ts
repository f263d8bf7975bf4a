import { AUTHORIZATION_LIFE_MS } from "./limits.ts";

/**
 * The cookie that binds one sign-in to the browser that began it. Each sign-in has its own, named after its state, so
 * that two in two tabs do not disturb each other. Over https its name keeps sites under the same domain from planting
 * one of theirs (`__Host-`).
 */
export interface SignInCookieOptions {
  /** True when the server is reached over https. */
  readonly secure: boolean;
}

const NAME_STATE_CHARS = 12;

export function signInCookie(state: string, value: string, options: SignInCookieOptions): string {
  return serialise(state, value, AUTHORIZATION_LIFE_MS / 1000, options);
}

export function clearedSignInCookie(state: string, options: SignInCookieOptions): string {
  return serialise(state, "", 0, options);
}

/** The values a browser has sent for a sign-in. */
export function readSignInCookies(request: Request, state: string, options: SignInCookieOptions): string[] {
  const prefix = `${nameOf(state, options)}=`;
  return (request.headers.get("cookie") ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length));
}

function serialise(state: string, value: string, maxAge: number, options: SignInCookieOptions): string {
  const attributes = [
    `${nameOf(state, options)}=${value}`,
    "Path=/",
    "HttpOnly",
    "SameSite=Lax",
    `Max-Age=${maxAge}`,
  ];
  if (options.secure) attributes.push("Secure");
  return attributes.join("; ");
}

/** States are base64url, which cookie names may contain. */
function nameOf(state: string, { secure }: SignInCookieOptions): string {
  return `${secure ? "__Host-" : ""}sign_in_${state.slice(0, NAME_STATE_CHARS)}`;
}

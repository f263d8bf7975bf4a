import { returnUrl } from "./return-path.ts";
import { clearedSignInCookie, type SignInCookieOptions } from "./sign-in-cookie.ts";

/** What a browser gets when it comes back from a provider and all is well. */
interface SignedInAnswer {
  readonly state: string;
  readonly returnPath: string;
  /** The `Set-Cookie` of a new session; null where the old one goes on. */
  readonly sessionCookie: string | null;
}

/** Sends the browser on to where it wanted to go, and takes the cookie of the sign-in away. */
export function answerSignedIn(
  { publicUrl, cookie }: { readonly publicUrl: string; readonly cookie: SignInCookieOptions },
  { state, returnPath, sessionCookie }: SignedInAnswer,
): Response {
  const headers = new Headers({ location: returnUrl(returnPath, publicUrl) });
  headers.append("set-cookie", clearedSignInCookie(state, cookie));
  if (sessionCookie !== null) headers.append("set-cookie", sessionCookie);
  return new Response(null, { status: 302, headers });
}

import type { RequestContext } from "../../http/route.ts";
import {
  type AuthorizationRequest,
  type AuthorizationRequestDependencies,
  type Intent,
  rememberRequest,
  signInExpired,
  takeRequest,
} from "./authorization-requests.ts";
import type { OpenIdConversations, ProvenIdentity } from "./openid-conversation.ts";
import type { ProviderClient } from "./provider.ts";
import { ProviderProblem } from "./provider-problem.ts";
import { requireReturnPath } from "./return-path.ts";
import { readSignInCookies, type SignInCookieOptions, signInCookie } from "./sign-in-cookie.ts";

export interface AuthorizationFlowDependencies extends AuthorizationRequestDependencies {
  readonly conversations: OpenIdConversations;
  /** The address people use; all that redirects are built from. */
  readonly publicUrl: string;
  readonly cookie: SignInCookieOptions;
}

/** One way to a provider and back. */
export interface AuthorizationRoute {
  readonly client: ProviderClient;
  /** Where the provider sends the browser, for example `/api/v1/auth/idp-a/callback`. */
  readonly callbackPath: string;
  readonly groupsClaim?: string;
}

type Caller = Pick<RequestContext, "request" | "log">;

/** Sends a browser to a provider. Throws VALIDATION_FAILED for a foreign `returnTo`, and PROVIDER_UNAVAILABLE. */
export async function beginAuthorization(
  deps: AuthorizationFlowDependencies,
  caller: Caller,
  route: AuthorizationRoute,
  { intent, returnTo }: { intent: Intent; returnTo: string | undefined },
): Promise<Response> {
  const returnPath = requireReturnPath(returnTo, deps.publicUrl);
  const { issuer, clientId } = route.client;
  const begun = await explained(caller, route, () =>
    deps.conversations.begin(route.client, conversationOptions(deps, route)),
  );
  const { url, state, nonce, codeVerifier } = begun;
  const remembered = { intent, issuer, clientId, nonce, codeVerifier, returnPath };
  const cookieValue = await rememberRequest(deps, state, remembered);
  return new Response(null, {
    status: 302,
    headers: { location: url, "set-cookie": signInCookie(state, cookieValue, deps.cookie) },
  });
}

/** What was begun by this browser under the state with which it comes back. Throws SIGN_IN_EXPIRED. */
export function takeBegun(
  deps: AuthorizationFlowDependencies,
  { request }: Caller,
  state: string | undefined,
): Promise<AuthorizationRequest> {
  if (state === undefined) throw signInExpired();
  return takeRequest(deps, state, readSignInCookies(request, state, deps.cookie));
}

/**
 * Asks the provider who came back. Throws SIGN_IN_EXPIRED when the provider was changed meanwhile, and the errors of
 * providers.
 */
export async function finishAuthorization(
  deps: AuthorizationFlowDependencies,
  caller: Caller,
  route: AuthorizationRoute,
  begun: AuthorizationRequest,
  state: string,
): Promise<ProvenIdentity> {
  if (begun.issuer !== route.client.issuer || begun.clientId !== route.client.clientId) throw signInExpired();
  const { nonce, codeVerifier } = begun;
  const { search } = new URL(caller.request.url);
  return explained(caller, route, () =>
    deps.conversations.finish(
      route.client,
      conversationOptions(deps, route),
      { state, nonce, codeVerifier },
      search,
    ),
  );
}

function conversationOptions(
  { publicUrl }: AuthorizationFlowDependencies,
  { callbackPath, groupsClaim }: AuthorizationRoute,
): { redirectUri: string; groupsClaim?: string } {
  const redirectUri = new URL(callbackPath, publicUrl).href;
  return groupsClaim === undefined ? { redirectUri } : { redirectUri, groupsClaim };
}

/** The person hears what kind of problem it is, the log the problem. */
async function explained<T>(caller: Caller, route: AuthorizationRoute, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ProviderProblem)) throw error;
    const { kind, message } = error;
    caller.log.warn(
      { issuer: route.client.issuer, kind, problem: message },
      "a sign-in failed at its provider",
    );
    throw error.toApiError();
  }
}

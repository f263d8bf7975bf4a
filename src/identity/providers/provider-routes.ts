import type { OutboundPolicy } from "../../outbound/outbound-policy.ts";
import type { HostResolver } from "../../outbound/outbound-target.ts";
import { IssuerDirectory } from "./issuer-directory.ts";
import { linkRoutes } from "./link-routes.ts";
import { OpenIdConversations } from "./openid-conversation.ts";
import { type SignInRouteDependencies, signInRoutes } from "./sign-in-routes.ts";
import { ssoConnectionRoutes } from "./sso/sso-connection-routes.ts";
import { ssoRoutes } from "./sso/sso-routes.ts";
import type { TxtResolver } from "./sso/txt-resolver.ts";

interface ProviderRouteDependencies extends Omit<SignInRouteDependencies, "conversations"> {
  /** To which addresses the server connects on behalf of organisations. */
  readonly outbound: OutboundPolicy;
  /** Asks the domain name system for what shows whose a domain is. */
  readonly resolveTxt: TxtResolver;
  /** Finds the addresses of a provider's host; the operating system does by default. */
  readonly resolve?: HostResolver;
}

/** Signing in through identity providers: those of the whole server, and those that organisations bring. */
export function providerRoutes(deps: ProviderRouteDependencies) {
  const { outbound, resolve, now, providers } = deps;
  // The operator's own choice of a provider is a permission to talk to it.
  const trusted = providers.reduce(
    (policy, { issuer }) => policy.allowing(new URL(issuer).hostname),
    outbound,
  );
  const ofServer = { ...deps, conversations: conversationsUnder(trusted, now, resolve) };
  const ofOrganizations = { ...deps, conversations: conversationsUnder(outbound, now, resolve) };
  return [
    ...signInRoutes(ofServer),
    ...linkRoutes(ofServer),
    ...ssoRoutes(ofOrganizations),
    ...ssoConnectionRoutes(ofOrganizations),
  ];
}

function conversationsUnder(
  policy: OutboundPolicy,
  now: () => number,
  resolve: HostResolver | undefined,
): OpenIdConversations {
  return new OpenIdConversations(
    new IssuerDirectory({ policy, now, ...(resolve !== undefined && { resolve }) }),
  );
}

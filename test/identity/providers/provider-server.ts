import type { ProviderId, ServerProvider } from "../../../src/identity/providers/provider.ts";
import { providerRoutes } from "../../../src/identity/providers/provider-routes.ts";
import { createTxtResolver } from "../../../src/identity/providers/sso/txt-resolver.ts";
import { OutboundPolicy } from "../../../src/outbound/outbound-policy.ts";
import { TEST_ORIGIN } from "../../harness/http-app.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import type { TestStores } from "../../harness/stores.ts";
import { type IdentityServer, type IdentityServerOptions, identityServer } from "../identity-server.ts";
import type { NameServer } from "./name-server.ts";
import type { OpenIdPeer } from "./openid-peer.ts";

export const CALLBACK_OF_A = `${TEST_ORIGIN}/api/v1/auth/idp-a/callback`;
export const CALLBACK_OF_B = `${TEST_ORIGIN}/api/v1/auth/idp-b/callback`;
export const CALLBACK_OF_SSO = `${TEST_ORIGIN}/api/v1/auth/sso/callback`;

interface ProviderServerOptions extends IdentityServerOptions {
  readonly providers?: readonly ServerProvider[];
  /** What the operator allows besides the internet. */
  readonly allow?: readonly string[];
  /** Where TXT records are asked for. */
  readonly nameServer?: NameServer;
}

/** An instance of everything about identity, with the routes of identity providers. */
export function providerServer(stores: TestStores, options: ProviderServerOptions = {}): IdentityServer {
  const { providers = [], allow = [], nameServer, ...identity } = options;
  const resolveTxt = createTxtResolver([nameServer?.address ?? "127.0.0.1:1"]);
  return identityServer(stores, {
    ...identity,
    moreRoutes: (parts) =>
      providerRoutes({
        ...parts,
        box: TEST_BOX,
        publicUrl: TEST_ORIGIN,
        providers,
        resolveTxt,
        outbound: new OutboundPolicy({ allow, allowPrivate: false }),
      }),
  });
}

/** A provider of the whole server, as the operator would configure the peer. */
export function configured(
  id: ProviderId,
  { issuer, clientId, clientSecret }: Pick<OpenIdPeer, "issuer" | "clientId" | "clientSecret">,
): ServerProvider {
  return { id, name: `The ${id}`, issuer, clientId, clientSecret };
}

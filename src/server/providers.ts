import type { Config } from "../config/config.ts";
import type { ProviderId, ServerProvider } from "../identity/providers/provider.ts";

/** The identity providers that are configured for the whole server. */
export function serverProviders(config: Config): ServerProvider[] {
  const { idpAIssuer, idpAClientId, idpAClientSecret, idpAName } = config;
  const { idpBIssuer, idpBClientId, idpBClientSecret, idpBName } = config;
  return [
    ...provider("idp-a", idpAName, idpAIssuer, idpAClientId, idpAClientSecret),
    ...provider("idp-b", idpBName, idpBIssuer, idpBClientId, idpBClientSecret),
  ];
}

/** The configuration has either all of it or nothing. */
function provider(
  id: ProviderId,
  name: string,
  issuer: string | null,
  clientId: string | null,
  clientSecret: string | null,
): ServerProvider[] {
  if (issuer === null || clientId === null || clientSecret === null) return [];
  return [{ id, name, issuer, clientId, clientSecret }];
}

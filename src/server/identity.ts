import { availableParallelism } from "node:os";
import type { Config } from "../config/config.ts";
import type { LoginThrottle } from "../identity/login-throttle.ts";
import { MemoryLoginThrottle } from "../identity/memory-login-throttle.ts";
import { PasswordHasher } from "../identity/password-hasher.ts";
import type { ProviderId, ServerProvider } from "../identity/providers/provider.ts";
import { providerRoutes } from "../identity/providers/provider-routes.ts";
import { createTxtResolver } from "../identity/providers/sso/txt-resolver.ts";
import { RedisLoginThrottle } from "../identity/redis-login-throttle.ts";
import { identityRoutes } from "../identity/routes.ts";
import type { Services } from "./services.ts";

/** People, their tokens, and the ways in which they sign in. */
export function identityPart(services: Services) {
  const { config, mail, authenticator } = services;
  return {
    routes: [
      ...identityRoutes({
        ...services,
        passwords: new PasswordHasher({ concurrency: availableParallelism() }),
        throttle: createLoginThrottle(services),
        links: mail.links,
        requireVerifiedEmail: config.requireEmailVerification && config.smtpUrl !== null,
      }),
      ...providerRoutes({
        ...services,
        providers: serverProviders(config),
        outbound: services.policy,
        resolveTxt: createTxtResolver(),
      }),
    ],
    settle: () => authenticator.settled(),
  };
}

/** Counts what is guessed. */
export function createLoginThrottle({ stores: { redis }, now, log }: Services): LoginThrottle {
  const local = new MemoryLoginThrottle({ now });
  return redis === null ? local : new RedisLoginThrottle({ redis, local, now, log });
}

/** The identity providers that are configured for the whole server. */
function serverProviders(config: Config): ServerProvider[] {
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

/** The providers of the whole server, as paths name them. */
export const PROVIDER_IDS = ["idp-a", "idp-b"] as const;
export type ProviderId = (typeof PROVIDER_IDS)[number];

/** What it takes to be a client of an OpenID provider. */
export interface ProviderClient {
  /** Exactly as the provider calls itself. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A provider the operator has configured. */
export interface ServerProvider extends ProviderClient {
  readonly id: ProviderId;
  /** What people read on the button. */
  readonly name: string;
}

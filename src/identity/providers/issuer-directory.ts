import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  type ExportedJWKSCache,
  enableNonRepudiationChecks,
  getJwksCache,
  type ServerMetadata,
  setJwksCache,
} from "openid-client";
import { patient } from "../../concurrency/patience.ts";
import { createGuardedFetch } from "../../outbound/guarded-fetch.ts";
import { OutboundError } from "../../outbound/outbound-error.ts";
import type { OutboundPolicy } from "../../outbound/outbound-policy.ts";
import type { HostResolver } from "../../outbound/outbound-target.ts";
import { ISSUER_LIFE_MS, ISSUERS_MAX, PROVIDER_ANSWER_MAX_BYTES, PROVIDER_TIMEOUT_MS } from "./limits.ts";
import type { ProviderClient } from "./provider.ts";
import { ProviderProblem } from "./provider-problem.ts";

/** What is known of an issuer. */
interface KnownIssuer {
  readonly metadata: ServerMetadata;
  readonly untilMs: number;
  /** The keys with which its tokens were checked last. */
  keys: ExportedJWKSCache | undefined;
}

interface IssuerDirectoryOptions {
  readonly policy: OutboundPolicy;
  readonly resolve?: HostResolver;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Knows the discovery documents and keys of issuers for a while. Every request to an issuer goes through the outbound
 * guard. Only what an issuer says of itself is kept under its name, so none can speak for another.
 */
export class IssuerDirectory {
  readonly #policy: OutboundPolicy;
  readonly #fetch: CustomFetch;
  readonly #now: () => number;
  readonly #known = new Map<string, KnownIssuer>();
  readonly #asking = new Map<string, Promise<KnownIssuer>>();

  constructor({ policy, resolve, now }: IssuerDirectoryOptions) {
    this.#policy = policy;
    this.#fetch = guardedProviderFetch(policy, resolve);
    this.#now = now;
  }

  /** Makes sure that an issuer is known and can be used. Throws ProviderProblem. */
  async learn(issuer: string): Promise<void> {
    await this.#find(issuer);
  }

  /** Makes a client's view of its provider. Throws ProviderProblem. */
  async configure(client: ProviderClient): Promise<Configuration> {
    const known = await this.#find(client.issuer);
    const methods = known.metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    // RFC 6749 2.3.1 wants the header form of every provider, and some nevertheless take the other one only.
    const authentication = methods.includes("client_secret_basic") ? ClientSecretBasic : ClientSecretPost;
    const configuration = new Configuration(
      known.metadata,
      client.clientId,
      undefined,
      authentication(client.clientSecret),
    );
    configuration[customFetch] = this.#fetch;
    if (this.#mayBePlain(client.issuer)) allowInsecureRequests(configuration);
    enableNonRepudiationChecks(configuration);
    if (known.keys !== undefined) setJwksCache(configuration, known.keys);
    return configuration;
  }

  /** Keeps the keys that a conversation has fetched. */
  keepKeys({ issuer }: ProviderClient, configuration: Configuration): void {
    const known = this.#known.get(issuer);
    const keys = getJwksCache(configuration);
    if (known !== undefined && keys !== undefined) known.keys = keys;
  }

  async #find(issuer: string): Promise<KnownIssuer> {
    const known = this.#known.get(issuer);
    if (known !== undefined && known.untilMs > this.#now()) return known;
    const underWay = this.#asking.get(issuer);
    if (underWay !== undefined) return underWay;
    const asked = this.#ask(issuer).finally(() => this.#asking.delete(issuer));
    this.#asking.set(issuer, asked);
    return asked;
  }

  async #ask(issuer: string): Promise<KnownIssuer> {
    const url = URL.parse(issuer);
    if (url === null || !this.#isAcceptable(url))
      throw new ProviderProblem("misconfigured", "the issuer is no https address");
    let metadata: ServerMetadata;
    try {
      const found = await discovery(url, "discovery", undefined, undefined, {
        [customFetch]: this.#fetch,
        ...(this.#mayBePlain(issuer) && { execute: [allowInsecureRequests] }),
      });
      metadata = found.serverMetadata();
    } catch (error) {
      throw ProviderProblem.from(error);
    }
    if (metadata.issuer !== issuer)
      throw new ProviderProblem("misconfigured", "the provider calls itself by another issuer");
    const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = metadata;
    const optional = userinfo_endpoint === undefined ? [] : [userinfo_endpoint];
    for (const endpoint of [authorization_endpoint, token_endpoint, jwks_uri, ...optional])
      if (endpoint === undefined || !this.#isAcceptable(URL.parse(endpoint)))
        throw new ProviderProblem("misconfigured", "the discovery document lacks an https endpoint");
    return this.#keep(issuer, { metadata, untilMs: this.#now() + ISSUER_LIFE_MS, keys: undefined });
  }

  #keep(issuer: string, known: KnownIssuer): KnownIssuer {
    this.#known.delete(issuer);
    this.#known.set(issuer, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > ISSUERS_MAX && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }

  #isAcceptable(url: URL | null): boolean {
    return (
      url !== null &&
      (url.protocol === "https:" || (url.protocol === "http:" && this.#policy.names(url.hostname)))
    );
  }

  /** Without TLS only with a host the operator has listed by name or address, such as one on the same machine. */
  #mayBePlain(issuer: string): boolean {
    const url = URL.parse(issuer);
    return url?.protocol === "http:" && this.#policy.names(url.hostname);
  }
}

function guardedProviderFetch(policy: OutboundPolicy, resolve?: HostResolver): CustomFetch {
  const send = createGuardedFetch(policy, resolve);
  return async (url, { method, headers, body }) => {
    const text = body instanceof URLSearchParams ? body.toString() : body;
    if (text !== undefined && text !== null && typeof text !== "string")
      throw new Error("a provider is sent forms only");
    const response = await send(url, {
      method,
      headers,
      ...(typeof text === "string" && { body: text }),
      timeoutMs: patient(PROVIDER_TIMEOUT_MS),
      maxBytes: PROVIDER_ANSWER_MAX_BYTES,
    });
    // A provider in trouble is no provider that refuses.
    if (response.status >= 500 || response.status === 429) throw new OutboundError("unreachable");
    return response;
  };
}

import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  type JsonValue,
  randomNonce,
  randomPKCECodeVerifier,
} from "openid-client";
import { normaliseEmail } from "../../access/email-address.ts";
import { mintSessionToken } from "../../access/secret-token.ts";
import type { IssuerDirectory } from "./issuer-directory.ts";
import { GROUPS_MAX, PROVIDER_CONVERSATIONS_MAX, SUBJECT_MAX_CHARS } from "./limits.ts";
import type { ProviderClient } from "./provider.ts";
import { ProviderProblem } from "./provider-problem.ts";

/** Who a provider says that somebody is. */
export interface ProvenIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** Normalised; null when there is none an account can have. */
  readonly email: string | null;
  /** Null when the provider says nothing about it. */
  readonly emailVerified: boolean | null;
  /** Null when the claim is missing. */
  readonly groups: readonly string[] | null;
}

/** The beginning of a sign-in: where to send the browser, and what to remember meanwhile. */
interface BegunConversation {
  readonly url: string;
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

interface ConversationOptions {
  readonly redirectUri: string;
  /** The claim with a person's groups, where they matter. */
  readonly groupsClaim?: string;
}

/**
 * Talks OpenID Connect to providers: the authorisation code flow with PKCE, state and nonce; the signature of the ID
 * token is checked besides. Everything throws ProviderProblem.
 */
export class OpenIdConversations {
  readonly #issuers: IssuerDirectory;
  #underWay = 0;

  constructor(issuers: IssuerDirectory) {
    this.#issuers = issuers;
  }

  begin(client: ProviderClient, options: ConversationOptions): Promise<BegunConversation> {
    return this.#bounded(async () => {
      const configuration = await this.#issuers.configure(client);
      const state = mintSessionToken();
      const nonce = randomNonce();
      const codeVerifier = randomPKCECodeVerifier();
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: options.redirectUri,
        scope: scopesOf(configuration, options.groupsClaim),
        code_challenge: await calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: "S256",
        state,
        nonce,
      });
      return { url: url.href, state, nonce, codeVerifier };
    });
  }

  /** Finishes what `begin` began; `search` is the query with which the browser came back. */
  finish(
    client: ProviderClient,
    options: ConversationOptions,
    remembered: Omit<BegunConversation, "url">,
    search: string,
  ): Promise<ProvenIdentity> {
    return this.#bounded(async () => {
      const configuration = await this.#issuers.configure(client);
      const cameBack = new URL(options.redirectUri);
      cameBack.search = search;
      const tokens = await authorizationCodeGrant(configuration, cameBack, {
        expectedState: remembered.state,
        expectedNonce: remembered.nonce,
        pkceCodeVerifier: remembered.codeVerifier,
        idTokenExpected: true,
      });
      this.#issuers.keepKeys(client, configuration);
      const idToken = tokens.claims();
      if (idToken === undefined) throw new ProviderProblem("invalid", "there is no ID token");
      const needsMore =
        idToken.email === undefined ||
        (options.groupsClaim !== undefined && idToken[options.groupsClaim] === undefined);
      const more =
        needsMore && configuration.serverMetadata().userinfo_endpoint !== undefined
          ? await fetchUserInfo(configuration, tokens.access_token, idToken.sub)
          : {};
      return identityOf(client.issuer, idToken, more, options.groupsClaim);
    });
  }

  /** Asks an issuer what it says of itself; that it can be used as it is. */
  check(issuer: string): Promise<void> {
    return this.#bounded(() => this.#issuers.learn(issuer));
  }

  async #bounded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#underWay >= PROVIDER_CONVERSATIONS_MAX)
      throw new ProviderProblem("unavailable", "too many conversations with providers at once");
    this.#underWay += 1;
    try {
      return await work();
    } catch (error) {
      throw ProviderProblem.from(error);
    } finally {
      this.#underWay -= 1;
    }
  }
}

/** Providers that give groups for a scope of the same name say so in their discovery document. */
function scopesOf(configuration: Configuration, groupsClaim: string | undefined): string {
  const scopes = ["openid", "email", "profile"];
  const offered = configuration.serverMetadata().scopes_supported ?? [];
  if (groupsClaim !== undefined && offered.includes(groupsClaim)) scopes.push(groupsClaim);
  return scopes.join(" ");
}

type Claims = Readonly<Record<string, JsonValue | undefined>>;

/** The ID token says who it is; what it does not say of them, the userinfo endpoint does. */
function identityOf(
  issuer: string,
  idToken: Claims & { readonly sub: string },
  userinfo: Claims,
  groupsClaim: string | undefined,
): ProvenIdentity {
  const subject = idToken.sub;
  if (subject.length > SUBJECT_MAX_CHARS || !/^[\x20-\x7e]+$/.test(subject))
    throw new ProviderProblem("invalid", "the subject is not what OpenID Connect allows");
  // Both from one place: a verification says nothing about an address that stands elsewhere.
  const { email, email_verified: verified } = idToken.email === undefined ? userinfo : idToken;
  const groups = groupsClaim === undefined ? null : (idToken[groupsClaim] ?? userinfo[groupsClaim] ?? null);
  return {
    issuer,
    subject,
    email: typeof email === "string" ? normaliseEmail(email) : null,
    // Some providers write the boolean as text.
    emailVerified:
      verified === undefined || verified === null ? null : verified === true || verified === "true",
    groups: groups === null ? null : groupNames(groups),
  };
}

function groupNames(groups: JsonValue): string[] {
  const list = Array.isArray(groups) ? groups : [groups];
  return list.slice(0, GROUPS_MAX).filter((group) => typeof group === "string");
}

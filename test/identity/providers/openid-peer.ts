import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider, { type Configuration, interactionPolicy } from "oidc-provider";

/** Somebody as the provider knows them. */
export interface PeerPerson {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly groups?: readonly string[];
}

/** A real OpenID provider on this machine. */
export interface OpenIdPeer {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Who signs in when a browser comes; null refuses. */
  person: PeerPerson | null;
  /** Paths of the requests it has had, in order. */
  readonly asked: string[];
  /** When set, every request is answered with this status. */
  failsWith: number | null;
  readonly stop: () => Promise<void>;
}

interface OpenIdPeerOptions {
  readonly redirectUris: readonly string[];
  /** Claims in the ID token; by default they are at the userinfo endpoint only. */
  readonly claimsInIdToken?: boolean;
  /** A port to listen on again after a stop. */
  readonly port?: number;
}

const CLIENT_ID = "obs";
const CLIENT_SECRET = "a secret only the provider and its client know";

export async function startOpenIdPeer(options: OpenIdPeerOptions): Promise<OpenIdPeer> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(options.port ?? 0, "127.0.0.1", listening));
  const issuer = `http://127.0.0.1:${portOf(server.address())}`;
  const people = new Map<string, PeerPerson>();
  const provider = new Provider(issuer, configurationOf(options, people));
  const handle = provider.callback();
  const peer: OpenIdPeer = {
    issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    person: null,
    asked: [],
    failsWith: null,
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    peer.asked.push(request.url ?? "");
    if (peer.failsWith !== null) {
      response.writeHead(peer.failsWith).end();
    } else if (request.url?.startsWith("/interaction/") === true) {
      void interact(provider, peer, people, request, response);
    } else {
      void handle(request, response);
    }
  });
  return peer;
}

/** Stands in for the person at the keyboard: signs in as whom the test says, or cancels. */
async function interact(
  provider: Provider,
  peer: OpenIdPeer,
  people: Map<string, PeerPerson>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { person } = peer;
  if (person === null) {
    await provider.interactionFinished(request, response, { error: "access_denied" });
    return;
  }
  people.set(person.sub, person);
  await provider.interactionFinished(request, response, { login: { accountId: person.sub } });
}

function configurationOf(options: OpenIdPeerOptions, people: ReadonlyMap<string, PeerPerson>): Configuration {
  const policy = interactionPolicy.base();
  policy.remove("consent");
  return {
    clients: [
      { client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [...options.redirectUris] },
    ],
    scopes: ["openid", "email", "profile", "groups"],
    claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups"] },
    conformIdTokenClaims: options.claimsInIdToken !== true,
    cookies: { keys: ["a key of the test"] },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    features: { devInteractions: { enabled: false } },
    interactions: { policy, url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ ...people.get(id), sub: id }) }),
    loadExistingGrant: async ({ oidc }) => {
      const { client, session, params } = oidc;
      const accountId = session?.accountId;
      if (client === undefined || accountId === undefined) return undefined;
      const grantId = session?.grantIdFor(client.clientId);
      if (grantId !== undefined) return oidc.provider.Grant.find(grantId);
      const grant = new oidc.provider.Grant({ clientId: client.clientId, accountId });
      grant.addOIDCScope(String(params?.scope));
      await grant.save();
      return grant;
    },
  };
}

function portOf(address: string | AddressInfo | null): number {
  if (address === null || typeof address === "string") throw new Error("the peer listens nowhere");
  return address.port;
}

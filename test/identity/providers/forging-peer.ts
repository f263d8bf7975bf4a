import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** A dishonest or broken OpenID provider: its ID tokens say what the test says, signed as the test says. */
export interface ForgingPeer {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Claims over those of an honest token; undefined takes one out. */
  claims: Record<string, unknown>;
  signature: Signature;
  /** What the userinfo endpoint answers. */
  userinfo: Record<string, unknown>;
  /** What the token endpoint answers beside or instead of an honest answer; undefined takes a member out. */
  answer: Record<string, unknown>;
  readonly stop: () => Promise<void>;
}

export type Signature = "honest" | "none" | "other-key" | "client-secret" | "public-key";

const ALGORITHMS: Readonly<Record<Signature, string>> = {
  honest: "RS256",
  none: "none",
  "other-key": "RS256",
  "client-secret": "HS256",
  "public-key": "HS256",
};
const CLIENT_ID = "obs";
const CLIENT_SECRET = "a secret of at least thirty-two characters";
const honest = generateKeyPairSync("rsa", { modulusLength: 2048 });
const other = generateKeyPairSync("rsa", { modulusLength: 2048 });

export function startForgingPeer(): ForgingPeer {
  let nonce: string | null = null;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/auth") {
        nonce = searchParams.get("nonce");
        const back = new URL(searchParams.get("redirect_uri") ?? "");
        back.search = new URLSearchParams({
          code: "code",
          state: searchParams.get("state") ?? "",
        }).toString();
        return new Response(null, { status: 302, headers: { location: back.href } });
      }
      if (pathname === "/jwks")
        return Response.json({
          keys: [{ ...honest.publicKey.export({ format: "jwk" }), kid: "1", use: "sig" }],
        });
      if (pathname === "/token") return Response.json(tokenAnswer(peer, nonce));
      if (pathname === "/userinfo") return Response.json(peer.userinfo);
      return Response.json(discoveryDocument(peer.issuer));
    },
  });
  const peer: ForgingPeer = {
    issuer: `http://127.0.0.1:${server.port}`,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    claims: {},
    signature: "honest",
    userinfo: {},
    answer: {},
    stop: () => server.stop(true),
  };
  return peer;
}

function discoveryDocument(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256", "HS256", "none"],
  };
}

function tokenAnswer(peer: ForgingPeer, nonce: string | null): object {
  const nowSec = Math.floor(Date.now() / 1000);
  const claims = {
    iss: peer.issuer,
    aud: peer.clientId,
    sub: "somebody",
    nonce,
    iat: nowSec,
    exp: nowSec + 60,
    ...peer.claims,
  };
  return { access_token: "token", token_type: "Bearer", id_token: idToken(claims, peer), ...peer.answer };
}

function idToken(claims: object, { signature, clientSecret }: ForgingPeer): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const signed = `${encode({ alg: ALGORITHMS[signature], kid: "1" })}.${encode(claims)}`;
  const publicPem = honest.publicKey.export({ type: "spki", format: "pem" });
  const keys: Readonly<Record<Signature, (text: string) => string>> = {
    honest: (text) => rsa(text, honest.privateKey),
    none: () => "",
    "other-key": (text) => rsa(text, other.privateKey),
    "client-secret": (text) => createHmac("sha256", clientSecret).update(text).digest("base64url"),
    "public-key": (text) => createHmac("sha256", publicPem).update(text).digest("base64url"),
  };
  return `${signed}.${keys[signature](signed)}`;
}

function rsa(text: string, key: KeyObject): string {
  return sign("RSA-SHA256", Buffer.from(text), key).toString("base64url");
}

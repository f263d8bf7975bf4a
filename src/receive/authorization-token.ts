import { Type } from "typebox";
import type { CredentialReader } from "../http/route.ts";

/** Authorization schemes of log senders, in lower case, besides Bearer, which every route knows. */
type SenderScheme = "basic" | "apikey" | "splunk";

/** The longest header that is looked at: several times what any sender makes of a token. */
const HEADER_MAX_CHARS = 1024;

/**
 * Reads the personal access token that a sender puts into its own kind of `Authorization` header: the password of
 * Basic (or the user name, where the password is empty), the key of `ApiKey` as it stands or as base64 of `id:key`, what
 * follows `Splunk`. A header of such a scheme without anything in it answers an empty token, which is refused.
 */
export function authorizationToken(...schemes: readonly SenderScheme[]): CredentialReader {
  return (request) => {
    const header = request.headers.get("authorization") ?? "";
    if (header.length > HEADER_MAX_CHARS) return null;
    const [, name = "", value = ""] = /^([A-Za-z]+)(?: +(.*))?$/.exec(header) ?? [];
    const scheme = schemes.find((known) => known === name.toLowerCase());
    switch (scheme) {
      case undefined:
        return null;
      case "splunk":
        return value.trim();
      case "basic":
        return basicToken(value.trim());
      case "apikey":
        return apiKeyToken(value.trim());
    }
  };
}

/**
 * Reads the token of senders that cannot set a bearer token: the password of Basic authentication, else `?token=` for those
 * that know nothing but an address. Addresses end in the logs of proxies, so such a token should have `logs:write` only.
 */
export const addressToken: CredentialReader = (request) => {
  const password = basicPassword(request);
  if (password !== null) return password;
  const at = request.url.indexOf("?");
  return at < 0 ? null : new URLSearchParams(request.url.slice(at + 1)).get("token");
};

/** The parameter that `addressToken` reads. */
export const TokenParameter = Type.Optional(
  Type.String({ maxLength: 128, description: "The token, for senders that cannot send it otherwise." }),
);

const basicPassword = authorizationToken("basic");

function basicToken(value: string): string {
  const [user = "", ...password] = fromBase64(value).split(":");
  return password.join(":") || user;
}

function apiKeyToken(value: string): string {
  const decoded = fromBase64(value);
  // Every text is base64 to a lenient decoder; only a key that was encoded decodes to what one looks like.
  const isEncoded =
    Buffer.from(decoded, "utf8").toString("base64").replace(/=+$/, "") === value.replace(/=+$/, "");
  return isEncoded ? decoded.slice(decoded.indexOf(":") + 1) : value;
}

function fromBase64(text: string): string {
  return Buffer.from(text, "base64").toString("utf8");
}

import { CliError } from "../cli-error.ts";
import { type ApiClient, jsonBody } from "../http/api-client.ts";
import { isRecord, parseJsonOrUndefined } from "../http/json.ts";

export interface Person {
  email: string;
  password: string;
}

/** Signs in, or up with `register`, makes a token with the session and ends the session. Resolves with the token. */
export async function signIn(
  api: ApiClient,
  person: Person,
  options: { register: boolean; tokenName: string },
): Promise<string> {
  const answer = await api.expect([200, 201], {
    method: "POST",
    path: options.register ? "/api/v1/auth/register" : "/api/v1/auth/login",
    ...jsonBody({ email: person.email, password: person.password }),
  });
  const cookie = answer.headers
    .getSetCookie()
    .map((header) => header.split(";")[0] ?? "")
    .find((pair) => pair.startsWith("session="));
  if (cookie === undefined) throw new CliError(`${api.baseUrl} gave no session: is it an obs server?`);
  // A session may change things only from the server's own pages, which is what this header says.
  const session = { cookie, origin: new URL(api.baseUrl).origin };
  const body = jsonBody({ name: options.tokenName });
  const minted = await api.expect([201], {
    method: "POST",
    path: "/api/v1/me/tokens",
    body: body.body,
    headers: { ...body.headers, ...session },
  });
  await api.expect([204], { method: "POST", path: "/api/v1/auth/logout", headers: session });
  const token = parseJsonOrUndefined(minted.text);
  if (isRecord(token) && typeof token.token === "string") return token.token;
  throw new CliError(`${api.baseUrl} gave no token: is it an obs server?`);
}

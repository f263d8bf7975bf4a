import { CliError } from "../cli-error.ts";
import { type ApiAnswer, type ApiClient, jsonBody } from "../http/api-client.ts";
import { RefusedError } from "../http/failures.ts";
import { isRecord, parseJsonOrUndefined } from "../http/json.ts";

export interface Person {
  email: string;
  password: string;
}

export interface SignInOptions {
  /** Makes an account, as a member of the organisation of `inviteToken` if there is one. */
  readonly register: boolean;
  readonly inviteToken: string | undefined;
  readonly tokenName: string;
  /** Asked for when the account has a second factor. */
  readonly askCode: () => Promise<string>;
}

/** Signs in or up, makes a token with the session and ends the session. Resolves with the token. */
export async function signIn(api: ApiClient, person: Person, options: SignInOptions): Promise<string> {
  const answer = options.register
    ? await register(api, person, options.inviteToken)
    : await logIn(api, person, options.askCode);
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

function register(api: ApiClient, person: Person, inviteToken: string | undefined): Promise<ApiAnswer> {
  return api.expect([201], {
    method: "POST",
    path: "/api/v1/auth/register",
    ...jsonBody({ ...person, ...(inviteToken !== undefined && { inviteToken }) }),
  });
}

async function logIn(api: ApiClient, person: Person, askCode: SignInOptions["askCode"]): Promise<ApiAnswer> {
  const send = (body: object): Promise<ApiAnswer> =>
    api.expect([200], { method: "POST", path: "/api/v1/auth/login", ...jsonBody(body) });
  try {
    return await send(person);
  } catch (error) {
    if (!(error instanceof RefusedError && error.code === "MFA_REQUIRED")) throw error;
    return send({ ...person, totp: await askCode() });
  }
}

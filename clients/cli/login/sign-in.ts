import type { ApiClient } from "../../api/client.ts";
import { ApiError } from "../../api/errors.ts";
import { CliError } from "../cli-error.ts";

interface Person {
  email: string;
  password: string;
}

interface SignInOptions {
  /** Makes an account, as a member of the organisation of `inviteToken` if there is one. */
  readonly register: boolean;
  readonly inviteToken: string | undefined;
  readonly tokenName: string;
  /** Asked for when the account has a second factor. */
  readonly askCode: () => Promise<string>;
}

/** Signs in or up, makes a token with the session and ends the session. Resolves with the token. */
export async function signIn(api: ApiClient, person: Person, options: SignInOptions): Promise<string> {
  const headers = options.register
    ? await register(api, person, options.inviteToken)
    : await logIn(api, person, options.askCode);
  const cookie = headers
    .getSetCookie()
    .map((header) => header.split(";")[0] ?? "")
    .find((pair) => pair.startsWith("session="));
  if (cookie === undefined) throw new CliError(`${api.baseUrl} gave no session: is it an obs server?`);
  // A session may change things only from the server's own pages, which is what this header says.
  const session = { cookie, origin: new URL(api.baseUrl).origin };
  const { token } = await api.call("POST /api/v1/me/tokens", {
    body: { name: options.tokenName },
    headers: session,
    expect: 201,
  });
  await api.call("POST /api/v1/auth/logout", { headers: session, expect: 204 });
  if (typeof token === "string") return token;
  throw new CliError(`${api.baseUrl} gave no token: is it an obs server?`);
}

/** The session is in the headers of the answer, here and below. */
async function register(api: ApiClient, person: Person, inviteToken: string | undefined): Promise<Headers> {
  const body = { ...person, ...(inviteToken !== undefined && { inviteToken }) };
  return (await api.send("POST /api/v1/auth/register", { body, expect: 201 })).headers;
}

async function logIn(api: ApiClient, person: Person, askCode: SignInOptions["askCode"]): Promise<Headers> {
  const send = async (body: Person & { totp?: string }): Promise<Headers> =>
    (await api.send("POST /api/v1/auth/login", { body, expect: 200 })).headers;
  try {
    return await send(person);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "MFA_REQUIRED")) throw error;
    return send({ ...person, totp: await askCode() });
  }
}

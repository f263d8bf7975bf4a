import type { ApiClient } from "../../api/client.ts";
import { ApiError } from "../../api/errors.ts";
import { CliError } from "../cli-error.ts";

export interface Person {
  email: string;
  password: string;
}

interface SignInOptions {
  /** Makes an account, as a member of the organisation of `inviteToken` if there is one. */
  readonly register: boolean;
  readonly inviteToken: string | undefined;
  /** Asked for when the account has a second factor. */
  readonly askCode: () => Promise<string>;
}

/** What the token may do, and until when, in milliseconds since 1970; null is without end. */
interface WantedToken {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAtMs: number | null;
}

/** A token that was made; it is shown this once. */
export interface MadeToken {
  readonly id: number;
  readonly token: string;
  readonly expiresAt: string | null;
}

/** Signs in or up, makes a token with the session and ends the session. */
export async function signIn(
  api: ApiClient,
  person: Person,
  wanted: WantedToken,
  options: SignInOptions,
): Promise<MadeToken> {
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
  const made = await createToken(api, wanted, session);
  await api.call("POST /api/v1/auth/logout", { headers: session, expect: 204 });
  return made;
}

/** Makes a token; `headers` are those of a session, without which the client's own token makes it. */
export async function createToken(
  api: ApiClient,
  { name, scopes, expiresAtMs }: WantedToken,
  headers: Readonly<Record<string, string>> = {},
): Promise<MadeToken> {
  const expiry = expiresAtMs === null ? {} : { expiresAt: new Date(expiresAtMs).toISOString() };
  const body = { name, scopes: [...scopes], ...expiry };
  const { id, token, expiresAt } = await api.call("POST /api/v1/me/tokens", { body, headers, expect: 201 });
  if (typeof token !== "string") throw new CliError(`${api.baseUrl} gave no token: is it an obs server?`);
  return { id, token, expiresAt: expiresAt ?? null };
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

import { CliError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { invocation } from "../invocation.ts";
import { TOKEN_END_NOTICE_MS } from "../limits.ts";
import { DEFAULT_URL, parseBaseUrl } from "./base-url.ts";
import { type Credentials, readCredentials } from "./credentials.ts";

/** A server and the token to speak to it with. */
interface Connection {
  baseUrl: string;
  token: string;
}

/** The address of the server: the option, else OBS_URL, else what `obs login` stored, else this machine. */
export async function resolveBaseUrl(context: CliContext, urlOption: string | undefined): Promise<string> {
  const stated = statedUrl(context, urlOption);
  if (stated !== undefined) return stated;
  const stored = await readCredentials(context);
  return stored === undefined ? DEFAULT_URL : parseBaseUrl(stored.url, "the stored address");
}

/**
 * The server and the token: OBS_TOKEN wins over the stored one, and the stored one goes to the server it was made for
 * and to no other.
 */
export async function resolveConnection(
  context: CliContext,
  urlOption: string | undefined,
): Promise<Connection> {
  const stated = statedUrl(context, urlOption);
  const token = context.env.OBS_TOKEN?.trim();
  if (token !== undefined && token !== "")
    return { baseUrl: stated ?? (await resolveBaseUrl(context, undefined)), token };
  const stored = await readCredentials(context);
  const obs = invocation(context.env);
  if (stored === undefined) throw new CliError(`no token: run "${obs} login", or set OBS_URL and OBS_TOKEN`);
  const storedUrl = parseBaseUrl(stored.url, "the stored address");
  if (stated !== undefined && stated !== storedUrl)
    throw new CliError(
      `the stored token is for ${storedUrl}, not for ${stated}: run "${obs} login --url ${stated}", or set OBS_TOKEN`,
    );
  await watchEnd(context, stored, obs);
  return { baseUrl: storedUrl, token: stored.token };
}

/** Throws when the token has ended, and says on a terminal when it is about to. */
async function watchEnd(
  { now, stderr }: CliContext,
  { expiresAt }: Pick<Credentials, "expiresAt">,
  obs: string,
): Promise<void> {
  if (expiresAt === undefined) return;
  const leftMs = Date.parse(expiresAt) - now();
  const day = expiresAt.slice(0, 10);
  if (leftMs <= 0) throw new CliError(`the token of "${obs} login" ended on ${day}: run it again`);
  if (leftMs < TOKEN_END_NOTICE_MS && stderr.isTerminal)
    await stderr.write(`obs: the token ends on ${day}: "${obs} login" makes another\n`);
}

function statedUrl({ env }: CliContext, urlOption: string | undefined): string | undefined {
  if (urlOption !== undefined) return parseBaseUrl(urlOption, "--url");
  const named = env.OBS_URL?.trim();
  return named === undefined || named === "" ? undefined : parseBaseUrl(named, "OBS_URL");
}

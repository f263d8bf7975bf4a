import { CliError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { DEFAULT_URL, parseBaseUrl } from "./base-url.ts";
import { readCredentials } from "./credentials.ts";

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
  if (stored === undefined) throw new CliError('no token: run "obs login", or set OBS_URL and OBS_TOKEN');
  const storedUrl = parseBaseUrl(stored.url, "the stored address");
  if (stated !== undefined && stated !== storedUrl)
    throw new CliError(
      `the stored token is for ${storedUrl}, not for ${stated}: run "obs login --url ${stated}", or set OBS_TOKEN`,
    );
  return { baseUrl: storedUrl, token: stored.token };
}

function statedUrl({ env }: CliContext, urlOption: string | undefined): string | undefined {
  if (urlOption !== undefined) return parseBaseUrl(urlOption, "--url");
  const named = env.OBS_URL?.trim();
  return named === undefined || named === "" ? undefined : parseBaseUrl(named, "OBS_URL");
}

import type { Command } from "commander";
import { ApiClient } from "../../api/client.ts";
import { ApiError, CallError } from "../../api/errors.ts";
import { UsageError } from "../cli-error.ts";
import { resolveBaseUrl } from "../config/connection.ts";
import {
  type Credentials,
  credentialsPath,
  readCredentials,
  TOKEN_PATTERN,
  writeCredentials,
} from "../config/credentials.ts";
import type { CliContext } from "../context.ts";
import { invocation } from "../invocation.ts";
import { LOGIN_TOKEN_DAYS } from "../limits.ts";
import { askOnTerminal, askPerson } from "../login/ask-person.ts";
import { CLI_SCOPES, READING_SCOPES, scopesInWords } from "../login/scopes.ts";
import { signIn } from "../login/sign-in.ts";
import type { GlobalOptions } from "./global-options.ts";

interface LoginFlags {
  email?: string;
  register?: boolean;
  readOnly?: boolean;
  passwordStdin?: boolean;
  totp?: string;
  invite?: string;
  token?: string;
}

const DAY_MS = 24 * 3600 * 1000;

/** `obs login` */
export function addLoginCommand(program: Command, context: CliContext): void {
  program
    .command("login")
    .description(`get a token for this command line, good for ${LOGIN_TOKEN_DAYS} days, and keep it`)
    .option("--email <email>", "asked for on a terminal")
    .option("--register", "make a new account")
    .option("--read-only", "a token that changes nothing: no `ship`, and nothing that acts")
    .option("--password-stdin", "read the password from standard input")
    .option(
      "--totp <code>",
      "a one-time or recovery code; asked for on a terminal when the account needs one",
    )
    .option("--invite <token>", "with --register: join the organisation that sent this invite")
    .option("--token <token>", "keep this token instead of making one")
    .action(async (flags: LoginFlags, command: Command) => {
      await runLogin(context, flags, command.optsWithGlobals<GlobalOptions>());
    });
}

async function runLogin(context: CliContext, flags: LoginFlags, globals: GlobalOptions): Promise<void> {
  if (flags.readOnly === true && flags.token !== undefined)
    throw new UsageError("--read-only is of a token that is made, and --token brings one");
  const url = await resolveBaseUrl(context, globals.url);
  const credentials =
    flags.token === undefined ? await makeToken(context, flags, url) : givenToken(url, flags.token);
  const api = new ApiClient({ baseUrl: url, token: credentials.token, fetch: context.fetch });
  await checkToken(api);
  const before = await readCredentials(context).catch(() => undefined);
  await writeCredentials(context, credentials);
  if (before?.url === url && before.tokenId !== undefined && credentials.tokenId !== undefined)
    await revoke(api, before.tokenId);
  if (globals.json === true) {
    await context.stdout.write(`${JSON.stringify({ url, credentials: credentialsPath(context) })}\n`);
    return;
  }
  const obs = invocation(context.env);
  const commands = flags.readOnly === true ? ["search WORD", "tail"] : ["ship FILE", "search WORD"];
  const next = commands
    .map((line) => `${obs} ${line}`)
    .map((line) => `  ${line}\n`)
    .join("");
  const end = credentials.expiresAt === undefined ? "" : ` and ends on ${credentials.expiresAt.slice(0, 10)}`;
  await context.stderr.write(
    `logged in to ${url}; the token is in ${credentialsPath(context)}${end}\nnow try:\n${next}`,
  );
}

/** Throws when the server does not know the token. One that may not read the account is known as well. */
async function checkToken(api: ApiClient): Promise<void> {
  try {
    await api.call("GET /api/v1/me");
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "PAT_SCOPE_INSUFFICIENT")) throw error;
  }
}

/** Takes the token back that this one replaces; it may be another person's, or gone already. */
async function revoke(api: ApiClient, id: number): Promise<void> {
  try {
    await api.call("DELETE /api/v1/me/tokens/:id", { params: { id } });
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
  }
}

function givenToken(url: string, token: string): Credentials {
  if (!TOKEN_PATTERN.test(token)) throw new UsageError("--token takes obs_ and 43 characters");
  return { url, token };
}

async function makeToken(context: CliContext, flags: LoginFlags, url: string): Promise<Credentials> {
  if (flags.invite !== undefined && flags.register !== true)
    throw new UsageError("--invite goes with --register");
  const scopes = flags.readOnly === true ? READING_SCOPES : CLI_SCOPES;
  if (context.stdinIsTerminal && flags.passwordStdin !== true)
    await context.stderr.write(`${scopesInWords(scopes)}\n`);
  const api = new ApiClient({ baseUrl: url, fetch: context.fetch });
  const isNew = flags.register === true;
  const person = await askPerson(context, flags, isNew);
  const wanted = {
    name: `obs cli on ${context.hostName}`,
    scopes,
    expiresAtMs: context.now() + LOGIN_TOKEN_DAYS * DAY_MS,
  };
  const { id, token, expiresAt } = await signIn(api, person, wanted, {
    register: isNew,
    inviteToken: flags.invite,
    askCode: async () => flags.totp ?? askOnTerminal(context, "One-time code: ", "--totp", false),
  });
  return { url, token, tokenId: id, ...(expiresAt !== null && { expiresAt }) };
}

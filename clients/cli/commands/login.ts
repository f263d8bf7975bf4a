import type { Command } from "commander";
import { ApiClient } from "../../api/client.ts";
import { ApiError } from "../../api/errors.ts";
import { UsageError } from "../cli-error.ts";
import { resolveBaseUrl } from "../config/connection.ts";
import { credentialsPath, TOKEN_PATTERN, writeCredentials } from "../config/credentials.ts";
import type { CliContext } from "../context.ts";
import { PASSWORD_MAX_CHARS } from "../limits.ts";
import { ask } from "../login/prompt.ts";
import { signIn } from "../login/sign-in.ts";
import type { GlobalOptions } from "./global-options.ts";

interface LoginFlags {
  email?: string;
  register?: boolean;
  passwordStdin?: boolean;
  totp?: string;
  invite?: string;
  token?: string;
}

/** `obs login` */
export function addLoginCommand(program: Command, context: CliContext): void {
  program
    .command("login")
    .description("get a token for this command line and keep it")
    .option("--email <email>", "asked for on a terminal")
    .option("--register", "make a new account")
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
  const url = await resolveBaseUrl(context, globals.url);
  const token = flags.token === undefined ? await makeToken(context, flags, url) : givenToken(flags.token);
  await checkToken(new ApiClient({ baseUrl: url, token, fetch: context.fetch }));
  await writeCredentials(context, { url, token });
  if (globals.json === true) {
    await context.stdout.write(`${JSON.stringify({ url, credentials: credentialsPath(context) })}\n`);
    return;
  }
  const next = ["obs ship FILE", "obs search WORD"].map((line) => `  ${line}\n`).join("");
  await context.stderr.write(
    `logged in to ${url}; the token is in ${credentialsPath(context)}\nnow try:\n${next}`,
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

function givenToken(token: string): string {
  if (!TOKEN_PATTERN.test(token)) throw new UsageError("--token takes obs_ and 43 characters");
  return token;
}

async function makeToken(context: CliContext, flags: LoginFlags, url: string): Promise<string> {
  if (flags.invite !== undefined && flags.register !== true)
    throw new UsageError("--invite goes with --register");
  const api = new ApiClient({ baseUrl: url, fetch: context.fetch });
  const email = flags.email ?? (await askOnTerminal(context, "Email: ", "--email", false));
  const password =
    flags.passwordStdin === true
      ? await readPassword()
      : await askOnTerminal(context, "Password: ", "--password-stdin", true);
  return signIn(
    api,
    { email, password },
    {
      register: flags.register === true,
      inviteToken: flags.invite,
      tokenName: `obs cli on ${context.hostName}`,
      askCode: async () => flags.totp ?? askOnTerminal(context, "One-time code: ", "--totp", false),
    },
  );
}

async function askOnTerminal(
  context: CliContext,
  question: string,
  option: string,
  hidden: boolean,
): Promise<string> {
  if (!context.stdinIsTerminal) throw new UsageError(`standard input is no terminal: use ${option}`);
  return ask(question, hidden);
}

/** The first line of standard input. */
async function readPassword(): Promise<string> {
  const text = await Bun.stdin.text();
  const password = text.split(/\r?\n/, 1)[0] ?? "";
  if (password === "" || password.length > PASSWORD_MAX_CHARS)
    throw new UsageError(`--password-stdin takes one line of 1 to ${PASSWORD_MAX_CHARS} characters`);
  return password;
}

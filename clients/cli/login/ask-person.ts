import { CliError, UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import {
  NEW_PASSWORD_MAX_CHARS,
  NEW_PASSWORD_MIN_CHARS,
  PASSWORD_ATTEMPTS_MAX,
  PASSWORD_MAX_CHARS,
} from "../limits.ts";
import { ask } from "./prompt.ts";
import type { Person } from "./sign-in.ts";

interface PersonFlags {
  readonly email?: string;
  readonly passwordStdin?: boolean;
}

/** The address and password of a person: given as options, else asked for; a new password is asked for twice. */
export async function askPerson(context: CliContext, flags: PersonFlags, isNew: boolean): Promise<Person> {
  const email = flags.email ?? (await askOnTerminal(context, "Email: ", "--email", false));
  requireEmail(email);
  if (flags.passwordStdin === true) return { email, password: await readPassword(isNew) };
  if (!isNew)
    return { email, password: await askOnTerminal(context, "Password: ", "--password-stdin", true) };
  return { email, password: await askNewPassword(context) };
}

/** Asks a question whose answer may be given as an option instead. Throws UsageError where there is no terminal. */
export async function askOnTerminal(
  context: CliContext,
  question: string,
  option: string,
  hidden: boolean,
): Promise<string> {
  if (!context.stdinIsTerminal) throw new UsageError(`standard input is no terminal: use ${option}`);
  return ask(question, hidden);
}

/** Before a password is asked for: what is no address at all. The server judges the rest. */
function requireEmail(email: string): void {
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email))
    throw new UsageError(`${email || "nothing"} is no email address`);
}

async function askNewPassword(context: CliContext): Promise<string> {
  await context.stderr.write(`A password has ${NEW_PASSWORD_MIN_CHARS} characters or more, of any kind.\n`);
  for (let attempt = 0; attempt < PASSWORD_ATTEMPTS_MAX; attempt++) {
    const password = await askOnTerminal(context, "Password: ", "--password-stdin", true);
    const problem = problemOf(password);
    if (problem !== null) {
      await context.stderr.write(`${problem}\n`);
      continue;
    }
    if ((await askOnTerminal(context, "The same again: ", "--password-stdin", true)) === password)
      return password;
    await context.stderr.write("That was another one.\n");
  }
  throw new CliError("no password was chosen");
}

function problemOf(password: string): string | null {
  const characters = [...password].length;
  if (characters < NEW_PASSWORD_MIN_CHARS)
    return `That has ${characters}; a password has ${NEW_PASSWORD_MIN_CHARS} or more.`;
  return characters > NEW_PASSWORD_MAX_CHARS ? `A password has at most ${NEW_PASSWORD_MAX_CHARS}.` : null;
}

/** The first line of standard input. */
async function readPassword(isNew: boolean): Promise<string> {
  const text = await Bun.stdin.text();
  const password = text.split(/\r?\n/, 1)[0] ?? "";
  if (password === "" || password.length > PASSWORD_MAX_CHARS)
    throw new UsageError(`--password-stdin takes one line of 1 to ${PASSWORD_MAX_CHARS} characters`);
  const problem = isNew ? problemOf(password) : null;
  if (problem !== null) throw new UsageError(problem);
  return password;
}

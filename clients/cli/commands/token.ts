import { type Command, InvalidArgumentError, Option } from "commander";
import { ApiClient } from "../../api/client.ts";
import { UsageError } from "../cli-error.ts";
import { resolveBaseUrl, resolveConnection } from "../config/connection.ts";
import type { CliContext } from "../context.ts";
import { invocation } from "../invocation.ts";
import { askOnTerminal, askPerson } from "../login/ask-person.ts";
import { createToken, type MadeToken, signIn } from "../login/sign-in.ts";
import { parseTime } from "../search/time-argument.ts";
import { makeColors, wantsColor } from "../terminal/colors.ts";
import { escapeControlsInCell } from "../terminal/escape-controls.ts";
import { jsonText } from "../terminal/json-text.ts";
import { formatTable, type TableColumn } from "../terminal/table.ts";
import { RECIPES } from "../tokens/recipes.ts";
import type { GlobalOptions } from "./global-options.ts";

interface CreateFlags {
  for?: string;
  name?: string;
  scopes?: string[];
  expires?: string;
  signIn?: boolean;
  email?: string;
  passwordStdin?: boolean;
}

const TEXT = { align: "left", isRigid: true } as const;
const COLUMNS: readonly TableColumn[] = [
  { header: "id", align: "right", isRigid: true },
  { header: "begins with", ...TEXT },
  { header: "name", align: "left", isRigid: false },
  { header: "scopes", align: "left", isRigid: false },
  { header: "ends", ...TEXT },
  { header: "last used", ...TEXT },
];

/** `obs token create|list|revoke` */
export function addTokenCommand(program: Command, context: CliContext): void {
  const command = program.command("token").description("make, list and revoke access tokens");
  command
    .command("create")
    .description("make a token that may write logs, and show where it goes")
    .addOption(new Option("--for <sender>", "show it filled into a recipe").choices(Object.keys(RECIPES)))
    .option("--name <name>", "what it is for; else the sender")
    .option("--scope, --scopes <scope...>", "what it may do; else logs:write and nothing more")
    .option("--expires <time>", "its end: a date, or so long from now, such as 30d")
    .option("--sign-in", "make it with a password: a token that makes it ends it when it ends itself")
    .option("--email <email>", "with --sign-in; asked for on a terminal")
    .option("--password-stdin", "with --sign-in: read the password from standard input")
    .action(async (flags: CreateFlags, self: Command) => {
      await runCreate(context, flags, self.optsWithGlobals<GlobalOptions>());
    });
  command
    .command("list")
    .description("the tokens that are not revoked")
    .action(async (_: unknown, self: Command) => {
      await runList(context, self.optsWithGlobals<GlobalOptions>());
    });
  command
    .command("revoke")
    .description("revoke a token; it fails from then on")
    .argument("<id>", "its number, as obs token list says it", tokenNumber)
    .action(async (id: number, _: unknown, self: Command) => {
      const { baseUrl, token } = await resolveConnection(context, self.optsWithGlobals<GlobalOptions>().url);
      const api = new ApiClient({ baseUrl, token, fetch: context.fetch });
      await api.call("DELETE /api/v1/me/tokens/:id", { params: { id } });
      await context.stderr.write(`revoked token ${id}\n`);
    });
}

async function runCreate(context: CliContext, flags: CreateFlags, globals: GlobalOptions): Promise<void> {
  if (flags.signIn !== true && (flags.email !== undefined || flags.passwordStdin === true))
    throw new UsageError("--email and --password-stdin go with --sign-in");
  const wanted = {
    name: flags.name ?? flags.for ?? "shipper",
    scopes: flags.scopes ?? ["logs:write"],
    expiresAtMs: flags.expires === undefined ? null : endOf(flags.expires, context.now()),
  };
  const { made, baseUrl } =
    flags.signIn === true
      ? await createSignedIn(context, wanted, flags, globals)
      : await createByToken(context, wanted, globals);
  const recipe = flags.for === undefined ? undefined : RECIPES[flags.for];
  const text = recipe?.text(new URL(baseUrl), made.token);
  if (globals.json === true) {
    await context.stdout.write(
      `${jsonText({ ...made, ...(text !== undefined && { recipe: text }) }, context.stdout)}\n`,
    );
    return;
  }
  const isBounded = made.expiresAt !== null && flags.expires === undefined;
  const end = made.expiresAt === null ? "has no end" : `ends on ${made.expiresAt.slice(0, 10)}`;
  const because = isBounded ? ", with the token that made it; --sign-in makes one without end" : "";
  await context.stderr.write(
    `token ${made.id} may ${wanted.scopes.join(", ")} and ${end}${because}; it is shown this once\n`,
  );
  if (recipe !== undefined) await context.stderr.write(`for ${recipe.sender}:\n`);
  await context.stdout.write(`${text ?? made.token}\n`);
}

type Wanted = Parameters<typeof createToken>[1];

async function createByToken(
  context: CliContext,
  wanted: Wanted,
  { url }: GlobalOptions,
): Promise<{ made: MadeToken; baseUrl: string }> {
  const { baseUrl, token } = await resolveConnection(context, url);
  const api = new ApiClient({ baseUrl, token, fetch: context.fetch });
  return { made: await createToken(api, wanted), baseUrl };
}

async function createSignedIn(
  context: CliContext,
  wanted: Wanted,
  flags: CreateFlags,
  { url }: GlobalOptions,
): Promise<{ made: MadeToken; baseUrl: string }> {
  const baseUrl = await resolveBaseUrl(context, url);
  const api = new ApiClient({ baseUrl, fetch: context.fetch });
  const made = await signIn(api, await askPerson(context, flags, false), wanted, {
    register: false,
    inviteToken: undefined,
    askCode: () => askOnTerminal(context, "One-time code: ", "OBS_TOKEN", false),
  });
  return { made, baseUrl };
}

async function runList(context: CliContext, globals: GlobalOptions): Promise<void> {
  const { baseUrl, token } = await resolveConnection(context, globals.url);
  const api = new ApiClient({ baseUrl, token, fetch: context.fetch });
  const tokens = await api.call("GET /api/v1/me/tokens");
  const { stdout, env } = context;
  if (globals.json === true) {
    await stdout.write(tokens.map((row) => `${jsonText(row, stdout)}\n`).join(""));
    return;
  }
  const dayOf = (time: string | null): string => time?.slice(0, 10) ?? "never";
  const rows = tokens.map(({ id, prefix, name, scopes, expiresAt, lastUsedAt }) =>
    [String(id), prefix, name, scopes.join(" "), dayOf(expiresAt), dayOf(lastUsedAt)].map(
      escapeControlsInCell,
    ),
  );
  const colors = makeColors(wantsColor(env, stdout.isTerminal));
  if (rows.length > 0)
    await stdout.write(`${formatTable({ columns: COLUMNS, rows }, stdout.columns, colors).join("\n")}\n`);
  else await context.stderr.write(`there are none: ${invocation(env)} token create\n`);
}

/** A date, or an age read forwards. */
function endOf(text: string, nowMs: number): number {
  const time = parseTime(text, nowMs);
  if (time === null)
    throw new UsageError(`--expires takes a date-time or a time from now such as 30d, not ${text}`);
  const ms = Date.parse(time);
  return /^\d+[a-z]$/.test(text) ? nowMs + (nowMs - ms) : ms;
}

function tokenNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError("It must be the number of a token.");
  return Number(text);
}

import type { Command } from "commander";
import type { CallAnswer } from "../../api/calls.ts";
import { ApiClient } from "../../api/client.ts";
import { ApiError } from "../../api/errors.ts";
import { CliError, EXIT } from "../cli-error.ts";
import { resolveConnection } from "../config/connection.ts";
import { type Described, placedError, placeOf, readFolder } from "../configuration/read-folder.ts";
import { driftLines, planLines } from "../configuration/show-changes.ts";
import { writeFolder } from "../configuration/write-folder.ts";
import type { CliContext } from "../context.ts";
import { invocation, shellWord } from "../invocation.ts";
import { askOnTerminal } from "../login/ask-person.ts";
import { escapeControls } from "../terminal/escape-controls.ts";
import { jsonText } from "../terminal/json-text.ts";
import { formatCountOf } from "../terminal/quantities.ts";
import { addColorOption, type ColorFlags, colorsOf } from "./color-option.ts";
import type { GlobalOptions } from "./global-options.ts";

interface WishFlags extends ColorFlags {
  readonly prune?: boolean;
  readonly adopt?: boolean;
}

interface ApplyFlags extends WishFlags {
  readonly plan?: string;
  readonly yes?: boolean;
}

type Planned = CallAnswer<"POST /api/v1/config/plan">;

const FOLDER = "obs";
/** What plan and drift end with where something is not as it should be. */
const DIFFERENT = 2;

/** `obs export`, `obs plan`, `obs apply` and `obs drift` */
export function addConfigurationCommands(program: Command, context: CliContext): void {
  program
    .command("export")
    .description("write everything that is set up into YAML files, without secrets")
    .argument("[dir]", "the folder", FOLDER)
    .option("--overwrite", "also where there are YAML files already")
    .action(async (folder: string, flags: { overwrite?: boolean }, self: Command) => {
      await runExport(context, folder, flags.overwrite === true, self.optsWithGlobals<GlobalOptions>());
    });
  addColorOption(addWishOptions(failingWithOne(program.command("plan"))))
    .description(
      "show what YAML files would change; ends with 0 for nothing, 2 for something, 1 for a failure",
    )
    .action(async (folder: string, flags: WishFlags, self: Command) => {
      await runPlan(context, folder, flags, self.optsWithGlobals<GlobalOptions>());
    });
  addColorOption(addWishOptions(failingWithOne(program.command("apply"))))
    .description("make what is set up what YAML files say, all of it or nothing")
    .option("--plan <id>", "only if this plan still holds; it is not asked for again")
    .option("--yes", "without asking")
    .action(async (folder: string, flags: ApplyFlags, self: Command) => {
      await runApply(context, folder, flags, self.optsWithGlobals<GlobalOptions>());
    });
  addColorOption(failingWithOne(program.command("drift")))
    .description("show what was changed by other means since files were applied; ends as plan does")
    .action(async (flags: ColorFlags, self: Command) => {
      await runDrift(context, flags, self.optsWithGlobals<GlobalOptions>());
    });
}

/** A command whose 2 says that something is different: what is not understood is a failure like any other. */
function failingWithOne(command: Command): Command {
  return command.exitOverride((error) => {
    throw error.exitCode === 0 ? error : new CliError("this was not understood", { cause: error });
  });
}

function addWishOptions(command: Command): Command {
  return command
    .argument("[dir]", "the folder of the files", FOLDER)
    .option("--prune", "delete what files described before and do not any more")
    .option("--adopt", "take over records of the same names that no file described");
}

async function apiOf(context: CliContext, { url }: GlobalOptions): Promise<ApiClient> {
  const { baseUrl, token } = await resolveConnection(context, url);
  return new ApiClient({ baseUrl, token, fetch: context.fetch });
}

async function runExport(
  context: CliContext,
  folder: string,
  overwrite: boolean,
  globals: GlobalOptions,
): Promise<void> {
  const api = await apiOf(context, globals);
  const { resources, leftOut } = await inWords(context, null, () => api.call("GET /api/v1/config"));
  if (globals.json === true) {
    await context.stdout.write(`${jsonText({ resources, leftOut }, context.stdout)}\n`);
    return;
  }
  const files = await writeFolder(folder, resources, overwrite);
  for (const file of files) await context.stdout.write(`${escapeControls(file)}\n`);
  if (files.length === 0) await context.stderr.write("nothing is set up\n");
  if (leftOut.length > 0)
    await context.stderr.write(`obs: the token may not read ${leftOut.join(", ")}; they are left out\n`);
}

async function runPlan(
  context: CliContext,
  folder: string,
  flags: WishFlags,
  globals: GlobalOptions,
): Promise<void> {
  const described = await readFolder(folder, context.env);
  const api = await apiOf(context, globals);
  const planned = await planOf(context, api, described, flags);
  await showPlan(context, planned, flags, globals);
  if (!planned.hasChanges) return;
  const options = [flags.prune === true ? " --prune" : "", flags.adopt === true ? " --adopt" : ""].join("");
  const command = `${invocation(context.env)} apply ${shellWord(folder)}${options} --plan ${planned.planId}`;
  throw new CliError(`nothing is done yet; this does it: ${command}`, { exitCode: DIFFERENT });
}

async function runApply(
  context: CliContext,
  folder: string,
  flags: ApplyFlags,
  globals: GlobalOptions,
): Promise<void> {
  const described = await readFolder(folder, context.env);
  const api = await apiOf(context, globals);
  let planId = flags.plan;
  if (planId === undefined) {
    const planned = await planOf(context, api, described, flags);
    if (!planned.hasChanges || flags.yes !== true) await showPlan(context, planned, flags, globals);
    if (!planned.hasChanges) return;
    if (flags.yes !== true) await confirm(context);
    planId = planned.planId;
  }
  const body = { ...wishOf(described, flags), planId };
  const applied = await inWords(context, described, () => api.call("POST /api/v1/config/apply", { body }));
  if (globals.json === true) {
    await context.stdout.write(`${jsonText(applied, context.stdout)}\n`);
    return;
  }
  for (const line of planLines(applied, colorsOf(flags, context))) await context.stdout.write(`${line}\n`);
  await context.stderr.write(`done; the audit log calls it ${applied.applyId}\n`);
}

async function confirm(context: CliContext): Promise<void> {
  if (!context.stdinIsTerminal) throw new CliError("standard input is no terminal: use --yes");
  const answer = await askOnTerminal(context, "Do this? [y/N] ", "--yes", false);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError("nothing was done");
}

async function runDrift(context: CliContext, flags: ColorFlags, globals: GlobalOptions): Promise<void> {
  const api = await apiOf(context, globals);
  const found = await inWords(context, null, () => api.call("GET /api/v1/config/drift"));
  const { stdout, stderr } = context;
  if (globals.json === true) await stdout.write(`${jsonText(found, stdout)}\n`);
  else for (const line of driftLines(found, colorsOf(flags, context))) await stdout.write(`${line}\n`);
  if (found.leftOut.length > 0)
    await stderr.write(`obs: the token may not read ${found.leftOut.join(", ")}; they are left out\n`);
  if (found.drift.length > 0)
    throw new CliError(`${formatCountOf(found.drift.length, "record")} drifted`, { exitCode: DIFFERENT });
}

async function showPlan(
  context: CliContext,
  planned: Planned,
  flags: ColorFlags,
  globals: GlobalOptions,
): Promise<void> {
  const { stdout } = context;
  if (globals.json === true) await stdout.write(`${jsonText(planned, stdout)}\n`);
  else for (const line of planLines(planned, colorsOf(flags, context))) await stdout.write(`${line}\n`);
}

function planOf(
  context: CliContext,
  api: ApiClient,
  described: Described,
  flags: WishFlags,
): Promise<Planned> {
  return inWords(context, described, () =>
    api.call("POST /api/v1/config/plan", { body: wishOf(described, flags) }),
  );
}

function wishOf({ resources }: Described, { adopt = false, prune = false }: WishFlags) {
  return { resources, adopt, prune };
}

/** Says of what the server refuses where it stands in the files, and of a token that may not, which one may. */
async function inWords<T>(
  { env }: CliContext,
  described: Described | null,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === "PAT_SCOPE_INSUFFICIENT")
      throw new CliError(
        `${escapeControls(error.message)}: "${invocation(env)} token create --sign-in --name configuration --scope '*'" makes a token that may, for OBS_TOKEN`,
        { exitCode: EXIT.failure, cause: error },
      );
    const problems = error.fields.flatMap(({ path, message }) => {
      const place = placeOf(described?.places ?? new Map(), path.replace(/^\/resources/, ""));
      return place === null ? [] : [{ place, message: escapeControls(`${nameOf(path)}${message}`) }];
    });
    if (problems.length === 0) throw error;
    throw placedError(problems);
  }
}

/** The last name of a pointer, where the message needs one. */
function nameOf(path: string): string {
  const name = path.split("/").at(-1) ?? "";
  return /^\d*$/.test(name) ? "" : `${name}: `;
}

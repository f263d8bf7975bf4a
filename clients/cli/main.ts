#!/usr/bin/env bun
import { Command, CommanderError } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { CliError, EXIT } from "./cli-error.ts";
import { addCommands } from "./command-families.ts";
import { DEFAULT_URL } from "./config/base-url.ts";
import { processContext } from "./context.ts";
import { asCliError } from "./failures.ts";
import { invocation } from "./invocation.ts";

const ENVIRONMENT_AND_EXIT_CODES = `
OBS_URL and OBS_TOKEN name the server and the token; NO_COLOR turns colours off.
Exit codes: 0 done, 1 failed or refused, 2 not understood, 130 interrupted, 143 terminated.`;

const context = processContext();
const program = new Command("obs")
  .description("ship logs to an obs server, find them again, and keep what is set up in files")
  .version(manifest.version)
  .option("--url <address>", `the server; else OBS_URL, else what obs login stored, else ${DEFAULT_URL}`)
  .option("--json", "output for machines")
  .showHelpAfterError(`(${invocation(context.env)} --help lists what there is)`)
  .addHelpText("after", ENVIRONMENT_AND_EXIT_CODES)
  .exitOverride();

try {
  await addCommands(program, context, process.argv.slice(2));
  await program.parseAsync();
  process.exit(EXIT.ok);
} catch (error) {
  process.exit(await exitCodeOf(error));
}

/** Says in one line what went wrong; a fault of this program keeps its stack. */
async function exitCodeOf(error: unknown): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const failure = asCliError(error);
  if (!(failure instanceof CliError)) throw error;
  await context.stderr.write(`obs: ${failure.message}\n`);
  return failure.exitCode;
}
